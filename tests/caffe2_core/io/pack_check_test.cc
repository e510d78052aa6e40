// The checks of the header and the index of a packed model: each error whole, and the values next
// to each bound that are accepted.
#include "caffe2_core/io/pack_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/io/pack_file.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::pack_check_test {
namespace {

const std::string kSubject = "S: ";
constexpr uint64_t kBlocksEnd = 256;

// The float tensor "w" of 12 bytes at 128, with a form of 8 bytes at 192.
PackedIndex GoodIndex() {
  PackedIndex index;
  index.mutable_predict_net();
  PackedTensor* const w = index.add_tensor();
  w->set_name("w");
  w->set_data_type(TensorProto::FLOAT);
  w->add_dims(3);
  w->mutable_block()->set_offset(128);
  w->mutable_block()->set_size(12);
  PackedForm* const form = w->add_form();
  form->set_key("k");
  form->mutable_block()->set_offset(192);
  form->mutable_block()->set_size(8);
  return index;
}

// The error of the index after `edit`, or "" if it is accepted.
std::string ErrorOf(const std::function<void(PackedIndex*)>& edit) {
  PackedIndex index = GoodIndex();
  edit(&index);
  const std::string message = MessageOf([&] { CheckPackedIndex(index, kBlocksEnd, kSubject); });
  return message == "(nothing was thrown)" ? "" : message;
}

void MakeInt8(PackedTensor* w) {
  w->set_stored_type(TensorProto::INT8);
  w->mutable_block()->set_size(3);
  w->mutable_row_scales()->set_offset(192);
  w->mutable_row_scales()->set_size(12);
}

void AddForm(PackedTensor* w, const std::string& key, uint64_t offset, uint64_t size) {
  PackedForm* const form = w->add_form();
  form->set_key(key);
  form->mutable_block()->set_offset(offset);
  form->mutable_block()->set_size(size);
}

TEST(PackCheckTest, NamesWhatIsWrongWithATensor) {
  const struct {
    std::function<void(PackedTensor*)> edit;
    std::string want;  // "": it is accepted
  } rows[] = {
      {[](PackedTensor*) {}, ""},
      {[](PackedTensor* w) { w->clear_name(); }, "a blob has no name"},
      {[](PackedTensor* w) { w->set_data_type(TensorProto::STRING); },
       "tensor \"w\" has element type 4, want one of plain data"},
      {[](PackedTensor* w) { w->set_data_type(-7); },
       "tensor \"w\" has element type -7, want one of plain data"},
      {[](PackedTensor* w) {
         for (int i = 0; i < 64; ++i) w->add_dims(1);
       },
       "rank of tensor \"w\": got 65, want at most 64"},
      {[](PackedTensor* w) {
         for (int i = 0; i < 63; ++i) w->add_dims(1);
       },
       ""},
      {[](PackedTensor* w) { w->set_dims(0, -3); },
       "a dimension of tensor \"w\": got -3, want at least 0"},
      {[](PackedTensor* w) { w->set_dims(0, 4); },
       "bytes of tensor \"w\", want those of its shape (got 12, want 16)"},
      {[](PackedTensor* w) { w->set_data_type(TensorProto::DOUBLE); },
       "bytes of tensor \"w\", want those of its shape (got 12, want 24)"},
      {[](PackedTensor* w) { w->mutable_block()->set_offset(129); },
       "offset of elements of \"w\", want a multiple of 64; remainder (got 1, want 0)"},
      {[](PackedTensor* w) { w->mutable_block()->set_offset(64); },
       "elements of \"w\" are at 64 with size 12, want a place between 128 and 256"},
      {[](PackedTensor* w) { w->mutable_block()->set_offset(256); },
       "elements of \"w\" are at 256 with size 12, want a place between 128 and 256"},
      {[](PackedTensor* w) { w->mutable_block()->set_offset(320); },
       "elements of \"w\" are at 320 with size 12, want a place between 128 and 256"},
      {[](PackedTensor* w) {
         w->set_dims(0, 0);
         w->mutable_block()->set_size(0);
         w->mutable_block()->set_offset(256);
       },
       ""},
      {[](PackedTensor* w) { w->set_scale(1); },
       "quantization of tensor \"w\": scale and zero point, want both or none (got 1, want 0)"},
      {[](PackedTensor* w) { w->set_zero_point(1); },
       "quantization of tensor \"w\": scale and zero point, want both or none (got 0, want 1)"},
      {[](PackedTensor* w) {
         w->set_scale(1);
         w->set_zero_point(1);
       },
       ""},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const std::string got =
        ErrorOf([&](PackedIndex* index) { rows[i].edit(index->mutable_tensor(0)); });
    EXPECT_EQ(got, rows[i].want.empty() ? "" : kSubject + rows[i].want) << i;
  }
}

TEST(PackCheckTest, NamesWhatIsWrongWithAStoredType) {
  const struct {
    std::function<void(PackedTensor*)> edit;
    std::string want;  // "": it is accepted
  } rows[] = {
      {MakeInt8, ""},
      {[](PackedTensor* w) {
         w->set_stored_type(TensorProto::FLOAT16);
         w->mutable_block()->set_size(6);
       },
       ""},
      {[](PackedTensor* w) { w->set_stored_type(TensorProto::FLOAT16); },
       "bytes of tensor \"w\", want those of its shape (got 12, want 6)"},
      {[](PackedTensor* w) { w->mutable_row_scales(); },
       "tensor \"w\" has scales of rows, want none without a stored type"},
      {[](PackedTensor* w) { w->set_stored_type(TensorProto::INT16); },
       "tensor \"w\" has stored type 9, want FLOAT16 or INT8"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->set_data_type(TensorProto::INT32);
       },
       "tensor \"w\" has stored type 7, want it only of floats"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->set_scale(1);
         w->set_zero_point(0);
       },
       "tensor \"w\" has stored type 7, want it only of floats"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->clear_row_scales();
       },
       "scales of the rows of tensor \"w\", want them for INT8 only (got 0, want 1)"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->set_stored_type(TensorProto::FLOAT16);
       },
       "scales of the rows of tensor \"w\", want them for INT8 only (got 1, want 0)"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->clear_dims();
       },
       "rank of tensor \"w\" with scales of rows: got 0, want at least 1"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->mutable_row_scales()->set_size(8);
       },
       "bytes of the scales of the rows of tensor \"w\": got 8, want 12"},
      // The scales belong to the first dimension alone.
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->add_dims(2);
         w->mutable_block()->set_size(6);
       },
       ""},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->mutable_row_scales()->set_offset(200);
       },
       "offset of scales of rows of \"w\", want a multiple of 64; remainder (got 8, want 0)"},
      {[](PackedTensor* w) {
         MakeInt8(w);
         w->mutable_row_scales()->set_offset(256);
       },
       "scales of rows of \"w\" are at 256 with size 12, want a place between 128 and 256"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const std::string got =
        ErrorOf([&](PackedIndex* index) { rows[i].edit(index->mutable_tensor(0)); });
    EXPECT_EQ(got, rows[i].want.empty() ? "" : kSubject + rows[i].want) << i;
  }
}

TEST(PackCheckTest, NamesWhatIsWrongWithPreparedForms) {
  const std::string key = "a prepared form of \"w\" has a key of ",
                    keys = " bytes, want 1 to 4096 and different keys";
  const struct {
    std::function<void(PackedTensor*)> edit;
    std::string want;  // "": it is accepted
  } rows[] = {
      {[](PackedTensor* w) { w->mutable_form(0)->clear_key(); }, key + "0" + keys},
      {[](PackedTensor* w) { w->mutable_form(0)->set_key(std::string(4096, 'k')); }, ""},
      {[](PackedTensor* w) { w->mutable_form(0)->set_key(std::string(4097, 'k')); },
       key + "4097" + keys},
      {[](PackedTensor* w) { AddForm(w, "k", 192, 8); }, key + "1" + keys},
      {[](PackedTensor* w) { AddForm(w, "other", 192, 8); }, ""},
      {[](PackedTensor* w) { w->mutable_form(0)->mutable_block()->set_size(64); }, ""},
      {[](PackedTensor* w) { w->mutable_form(0)->mutable_block()->set_size(65); },
       "prepared forms of \"w\" are at 192 with size 65, want a place between 128 and 256"},
      {[](PackedTensor* w) { w->mutable_form(0)->mutable_block()->set_offset(193); },
       "offset of prepared forms of \"w\", want a multiple of 64; remainder (got 1, want 0)"},
      // All blocks together, with the 20 bytes that are there.
      {[](PackedTensor* w) {
         AddForm(w, "a", 128, 128);
         AddForm(w, "b", 128, 108);
       },
       ""},
      {[](PackedTensor* w) {
         AddForm(w, "a", 128, 128);
         AddForm(w, "b", 128, 109);
       },
       "bytes of all blocks together: got 257, want at most 256"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const std::string got =
        ErrorOf([&](PackedIndex* index) { rows[i].edit(index->mutable_tensor(0)); });
    EXPECT_EQ(got, rows[i].want.empty() ? "" : kSubject + rows[i].want) << i;
  }
}

TEST(PackCheckTest, NamesWhatIsWrongWithAnIndex) {
  const auto prepare = [](PackedIndex* index) {
    index->mutable_preparation()->mutable_net();
    PackedTensor* const c = index->mutable_preparation()->add_tensor();
    c->set_name("c");
    c->set_data_type(TensorProto::INT8);
    c->add_dims(5);
    c->mutable_block()->set_offset(192);
    c->mutable_block()->set_size(5);
  };
  EXPECT_EQ(ErrorOf([](PackedIndex* i) { i->clear_predict_net(); }), "S: it has no predict net");
  EXPECT_EQ(ErrorOf([](PackedIndex* i) { i->add_blob(); }), "S: a blob has no name");
  EXPECT_EQ(ErrorOf([](PackedIndex* i) { i->add_blob()->set_name("w"); }),
            "S: blob \"w\" occurs twice");
  EXPECT_EQ(ErrorOf([](PackedIndex* i) { i->add_blob()->set_name("s"); }), "");
  EXPECT_EQ(ErrorOf(prepare), "");
  EXPECT_EQ(ErrorOf([&](PackedIndex* i) {
              prepare(i);
              i->mutable_preparation()->clear_net();
            }),
            "S: its preparation has no net");
  EXPECT_EQ(ErrorOf([&](PackedIndex* i) {
              prepare(i);
              i->add_blob()->set_name("c");
            }),
            "S: blob \"c\" occurs twice");
  EXPECT_EQ(ErrorOf([&](PackedIndex* i) {
              prepare(i);
              i->mutable_preparation()->mutable_tensor(0)->mutable_block()->set_size(4);
            }),
            "S: bytes of tensor \"c\", want those of its shape (got 4, want 5)");
  // Blocks of both count together: 20 bytes, 5 bytes and 128 + 103 bytes.
  for (const uint64_t size : {103, 104}) {
    EXPECT_EQ(ErrorOf([&](PackedIndex* i) {
                prepare(i);
                PackedTensor* const c = i->mutable_preparation()->mutable_tensor(0);
                AddForm(c, "a", 128, 128);
                AddForm(c, "b", 128, size);
              }),
              size == 103 ? "" : "S: bytes of all blocks together: got 257, want at most 256");
  }
}

template <class T>
std::string With(std::string bytes, size_t at, T value, bool correct = true) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
  const uint64_t sum = ContentSum(bytes.data(), 120);
  if (correct) std::memcpy(bytes.data() + 120, &sum, sizeof(sum));
  return bytes;
}

TEST(PackCheckTest, NamesWhatIsWrongWithAHeader) {
  const PackHeader header{.index_offset = 320, .index_size = 680, .index_checksum = 77};
  const std::string good = PackHeaderBytes(header, 1000);
  ASSERT_EQ(good.size(), 128u);
  const PackHeader read = ParsePackHeader(good, 1000, kSubject);
  EXPECT_EQ(read.index_offset, 320u);
  EXPECT_EQ(read.index_size, 680u);
  EXPECT_EQ(read.index_checksum, 77u);
  const auto parse = [](const std::string& bytes, uint64_t size = 1000) {
    return [bytes, size] { ParsePackHeader(bytes, size, kSubject); };
  };
  const std::string index = "S: its index is at ", end = ", want the end of the 1000 bytes";
  ExpectRefusals({
      {parse(""), "S: it does not have the signature of one"},
      {parse(With(good, 7, '\x1b')), "S: it does not have the signature of one"},
      {parse(good.substr(0, 127)), "S: bytes of its header: got 127, want 128"},
      {parse(With(good, 8, uint32_t{2})),
       "S: version of the format; pack the model again with this program; version: got 2, want 1"},
      {parse(With(good, 8, uint32_t{2}, false)),
       "S: version of the format; pack the model again with this program; version: got 2, want 1"},
      {parse(With(good, 100, 'x', false)), "S: its header is damaged: the checksum differs"},
      {parse(With(good, 40, uint64_t{78}, false)),
       "S: its header is damaged: the checksum differs"},
      {parse(With(good, 12, uint32_t{64})), "S: size of its header: got 64, want 128"},
      {parse(good, 1001), "S: size of the file, want the one in its header (got 1001, want 1000)"},
      {parse(With(good, 24, uint64_t{64})), index + "64 with size 680" + end},
      {parse(With(good, 24, uint64_t{321})), index + "321 with size 680" + end},
      {parse(With(good, 24, uint64_t{384})), index + "384 with size 680" + end},
      // At the end of the file, but not at a multiple of 64, or in the header.
      {parse(With(With(good, 24, uint64_t{321}), 32, uint64_t{679})),
       index + "321 with size 679" + end},
      {parse(With(With(good, 24, uint64_t{352}), 32, uint64_t{648})),
       index + "352 with size 648" + end},
      {parse(With(With(good, 24, uint64_t{64}), 32, uint64_t{936})),
       index + "64 with size 936" + end},
      {parse(With(good, 32, uint64_t{679})), index + "320 with size 679" + end},
      {parse(With(With(good, 24, uint64_t{1024}), 32, uint64_t{1000} - 1024)),
       index + "1024 with size 18446744073709551592" + end},
  });
  EXPECT_EQ(
      ParsePackHeader(PackHeaderBytes({.index_offset = 128, .index_size = 0}, 128), 128, kSubject)
          .index_size,
      0u);
}

// Blocks of 64 KiB and more begin at pages, others at multiples of 64.
TEST(PackCheckTest, BlocksBeginAtTheirAlignment) {
  const TempDir dir;
  PackWriter writer(dir.path("m.c2pack"));
  const std::string bytes(65536, 'x');
  EXPECT_EQ(writer.Add(bytes.data(), 1).offset(), 128u);
  EXPECT_EQ(writer.Add(bytes.data(), 65535).offset(), 192u);
  EXPECT_EQ(writer.Add(bytes.data(), 65536).offset(), 17u * 4096);
  EXPECT_EQ(writer.Add(bytes.data(), 0).offset(), 33u * 4096);
  EXPECT_EQ(writer.Add(bytes.data(), 64).offset(), 33u * 4096);
  const PackedBlock last = writer.Add("abc", 3);
  EXPECT_EQ(last.offset(), 33u * 4096 + 64);
  EXPECT_EQ(last.size(), 3u);
  EXPECT_EQ(last.checksum(), ContentSum("abc", 3));
}

TEST(PackCheckTest, NamesWhatIsWrongWithAFile) {
  const TempDir dir;
  const std::string path = dir.path("m.c2pack");
  {
    PackWriter writer(path);
    PackedIndex index;
    index.mutable_predict_net();
    PackedTensor* const w = index.add_tensor();
    w->set_name("w");
    w->set_data_type(TensorProto::FLOAT);
    w->add_dims(2);
    w->set_stored_type(TensorProto::INT8);
    *w->mutable_block() = writer.Add("ab", 2);
    *w->mutable_row_scales() = writer.Add("abcdefgh", 8);
    PackedForm* const form = w->add_form();
    form->set_key("k");
    *form->mutable_block() = writer.Add("form", 4);
    PackedTensor* const b = index.add_tensor();
    b->set_name("b");
    b->set_data_type(TensorProto::BOOL);
    b->add_dims(3);
    *b->mutable_block() = writer.Add("\0\1\1", 3);
    writer.Finish(index);
    // An index that readers would reject is not written.
    PackWriter second(dir.path("second"));
    ExpectRefusals({{[&] { second.Finish(PackedIndex()); },
                     "cannot write \"" + dir.path("second") + "\": it has no predict net"}});
  }
  const std::string good = ReadWholeFile(path), other = dir.path("other");
  const std::string damaged = "packed model \"" + other + "\" is damaged: the checksum of ";
  const std::string subject = "cannot read \"" + other + "\" as a packed model: ";
  const auto open = [&](const std::string& bytes) {
    dir.Write("other", bytes);
    return MessageOf([&] { PackFile::Open(other)->Verify(); });
  };
  const auto flipped = [&](size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    return bytes;
  };
  EXPECT_EQ(open(good), "(nothing was thrown)");
  EXPECT_EQ(open(flipped(129)), damaged + "the elements of \"w\" differs");
  EXPECT_EQ(open(flipped(192 + 7)), damaged + "the scales of rows of \"w\" differs");
  EXPECT_EQ(open(flipped(256 + 3)), damaged + "a prepared form of \"w\" differs");
  EXPECT_EQ(open(flipped(320 + 2)),
            subject + "element 2 of bool tensor \"b\" has the byte 5, want 0 or 1");
  EXPECT_EQ(open(flipped(384 + 1)), subject + "its index is damaged: the checksum differs");
  // An index whose checksum is right, but that is none.
  std::string none = good.substr(0, 384) + "\xff";
  const PackHeader header{
      .index_offset = 384, .index_size = 1, .index_checksum = ContentSum("\xff", 1)};
  none.replace(0, 128, PackHeaderBytes(header, none.size()));
  EXPECT_EQ(open(none), subject + "its index: the bytes are not a valid message, or are truncated");
  EXPECT_EQ(
      MessageOf([] { PackFile::Open("/dev/null"); }),
      "cannot read \"/dev/null\" as a packed model: it is not a regular file, so it cannot be "
      "mapped");
}

}  // namespace
}  // namespace caffe2rt::test::pack_check_test
