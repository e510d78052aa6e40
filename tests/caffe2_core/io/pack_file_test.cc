#include "caffe2_core/io/pack_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "caffe2_core/base/content_sum.h"
#include "caffe2_core/io/file_kind.h"
#include "tests/support/held_files.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::pack_file_test {
namespace {

using namespace test;  // used throughout this file

template <class T>
T At(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}
template <class T>
void Put(size_t offset, T value, std::string* bytes) {
  std::memcpy(bytes->data() + offset, &value, sizeof(value));
}

// Makes the checksums of the header and the index right again, and the sizes if the file grew.
void CorrectHeader(std::string* bytes) {
  const auto index = At<uint64_t>(*bytes, 24);
  Put<uint64_t>(16, bytes->size(), bytes);
  Put<uint64_t>(32, bytes->size() - index, bytes);
  Put(40, ContentSum(bytes->data() + index, bytes->size() - index), bytes);
  Put(120, ContentSum(bytes->data(), 120), bytes);
}

class PackFileTest : public ::testing::Test {
 protected:
  // A file with the float tensor "w" = {1, 2, 3}, which has a form of 8 bytes, and the bools "b".
  std::string WriteFile() const {
    PackWriter writer(path_);
    const float values[] = {1, 2, 3};
    PackedTensor* w = index_.add_tensor();
    w->set_name("w");
    w->set_data_type(TensorProto::FLOAT);
    w->add_dims(3);
    *w->mutable_block() = writer.Add(values, sizeof(values));
    PackedTensor* b = index_.add_tensor();
    b->set_name("b");
    b->set_data_type(TensorProto::BOOL);
    b->add_dims(1);
    b->add_dims(2);
    *b->mutable_block() = writer.Add("\1\0", 2);
    PackedForm* form = index_.mutable_tensor(0)->add_form();
    form->set_key("a layout");
    *form->mutable_block() = writer.Add("prepared", 8);
    *index_.mutable_predict_net() = ParseNet("name: 'n'");
    writer.Finish(index_);
    return ReadWholeFile(path_);
  }
  void ExpectRejected(const std::string& bytes, const std::string& part) const {
    const std::string damaged = dir_.Write("damaged", bytes);
    ExpectThrows([&] { PackFile::Open(damaged); }, part);
    EXPECT_THAT(HeldFiles(damaged), ::testing::IsEmpty());
  }
  // Writes a file whose index `edit` has changed, with correct checksums.
  void ExpectIndexRejected(const std::function<void(PackedIndex*)>& edit, const std::string& part) {
    std::string bytes = WriteFile();
    PackedIndex index = PackFile::Open(path_)->index();
    edit(&index);
    bytes.resize(At<uint64_t>(bytes, 24));
    bytes += index.SerializePartialAsString();
    CorrectHeader(&bytes);
    ExpectRejected(bytes, part);
    index_.Clear();
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("model.c2pack");
  mutable PackedIndex index_;
};

TEST_F(PackFileTest, ReturnsWhatWasWritten) {
  WriteFile();
  const auto file = PackFile::Open(path_);
  EXPECT_EQ(file->index().SerializeAsString(), index_.SerializeAsString());
  const PackedTensor& w = file->index().tensor(0);
  EXPECT_EQ(w.block().size(), 12u);
  const auto* values = static_cast<const float*>(file->data(w.block()));
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[2], 3);
  EXPECT_EQ(std::memcmp(file->data(w.form(0).block()), "prepared", 8), 0);
  file->Verify();
  EXPECT_EQ(DetectFileKind(path_).kind, FileKind::kPackedModel);
}

// The layout that pack_file.h describes.
TEST_F(PackFileTest, HasTheDescribedLayout) {
  const std::string bytes = WriteFile();
  EXPECT_EQ(bytes.substr(0, 8),
            "\x89"
            "C2PK\r\n\x1a");
  EXPECT_EQ(At<uint32_t>(bytes, 8), 1u);
  EXPECT_EQ(At<uint32_t>(bytes, 12), 128u);
  EXPECT_EQ(At<uint64_t>(bytes, 16), bytes.size());
  EXPECT_EQ(At<uint64_t>(bytes, 24), 320u);  // blocks at 128, 192 and 256
  EXPECT_EQ(At<uint64_t>(bytes, 32), bytes.size() - 320);
  EXPECT_EQ(At<uint64_t>(bytes, 40), ContentSum(bytes.data() + 320, bytes.size() - 320));
  EXPECT_EQ(bytes.substr(48, 72), std::string(72, '\0'));
  EXPECT_EQ(At<uint64_t>(bytes, 120), ContentSum(bytes.data(), 120));
  EXPECT_EQ(At<float>(bytes, 128 + 8), 3);
  EXPECT_EQ(bytes.substr(256, 8), "prepared");
  EXPECT_EQ(index_.tensor(1).block().offset(), 192u);
}

TEST_F(PackFileTest, LargeBlocksBeginAtPages) {
  PackWriter writer(path_);
  const std::string large(100000, 'x');
  EXPECT_EQ(writer.Add("small", 5).offset() % 64, 0u);
  EXPECT_EQ(writer.Add(large.data(), large.size()).offset() % 4096, 0u);
}

TEST_F(PackFileTest, UnfinishedFilesLeaveTheOldOne) {
  dir_.Write("model.c2pack", "old");
  {
    PackWriter writer(path_);
    writer.Add("data", 4);
  }
  EXPECT_EQ(ReadWholeFile(path_), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
}

TEST_F(PackFileTest, RejectsEveryTruncation) {
  const std::string bytes = WriteFile();
  for (size_t size = 0; size < bytes.size(); ++size) ExpectRejected(bytes.substr(0, size), "");
  ExpectRejected(bytes + "x", "size of the file");
}

TEST_F(PackFileTest, RejectsEveryDamagedByteOfHeaderAndIndex) {
  const std::string bytes = WriteFile();
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 128) i = 320;  // the blocks
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    ExpectRejected(damaged, "cannot read");
  }
}

TEST_F(PackFileTest, VerifyReportsDamagedBlocks) {
  const std::string bytes = WriteFile();
  const auto verify = [&](size_t damaged_byte) {
    std::string damaged = bytes;
    damaged[damaged_byte] = static_cast<char>(damaged[damaged_byte] ^ 1);
    PackFile::Open(dir_.Write("damaged", damaged))->Verify();
  };
  ExpectThrows([&] { verify(128); }, "the checksum of the elements of \"w\" differs");
  ExpectThrows([&] { verify(256); }, "the checksum of a prepared form of \"w\" differs");
  verify(128 + 12);  // between blocks
}

TEST_F(PackFileTest, RejectsOtherVersions) {
  std::string bytes = WriteFile();
  Put<uint32_t>(8, 2, &bytes);
  CorrectHeader(&bytes);
  ExpectRejected(bytes, "version");
}

TEST_F(PackFileTest, RejectsHeadersWithWrongPlaces) {
  const std::string bytes = WriteFile();
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{64}, uint64_t{321}, uint64_t{1} << 40, UINT64_MAX - 63}) {
    for (const uint64_t size : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
      std::string damaged = bytes;
      Put(24, offset, &damaged);
      Put(32, size, &damaged);
      Put(120, ContentSum(damaged.data(), 120), &damaged);
      ExpectRejected(damaged, "its index is at");
    }
  }
}

TEST_F(PackFileTest, RejectsBlocksOutsideTheirPlace) {
  const auto with_offset = [&](uint64_t offset, const std::string& part) {
    ExpectIndexRejected(
        [&](PackedIndex* index) { index->mutable_tensor(0)->mutable_block()->set_offset(offset); },
        part);
    ExpectIndexRejected(
        [&](PackedIndex* index) {
          index->mutable_tensor(0)->mutable_form(0)->mutable_block()->set_offset(offset);
        },
        part);
  };
  with_offset(129, "want a multiple of 64");
  with_offset(64, "want a place between");
  with_offset(0, "want a place between");
  with_offset(320, "want a place between");
  with_offset(uint64_t{1} << 62, "want a place between");
  with_offset(UINT64_MAX - 63, "want a place between");
  ExpectIndexRejected(
      [](PackedIndex* index) {
        index->mutable_tensor(0)->mutable_form(0)->mutable_block()->set_size(UINT64_MAX);
      },
      "want a place between");
}

// The constants of the prepared net are checked as the tensors of the packed one.
TEST_F(PackFileTest, ChecksThePreparation) {
  const auto rejected = [&](const std::function<void(PackedPreparation*)>& edit,
                            const std::string& part) {
    ExpectIndexRejected(
        [&](PackedIndex* index) {
          PackedPreparation* const preparation = index->mutable_preparation();
          preparation->mutable_net();
          PackedTensor* const constant = preparation->add_tensor();
          *constant = index->tensor(0);
          constant->set_name("constant");
          constant->mutable_block()->set_size(0);
          constant->set_dims(0, 0);
          constant->clear_form();
          edit(preparation);
        },
        part);
  };
  rejected([](PackedPreparation* p) { p->clear_net(); }, "its preparation has no net");
  rejected([](PackedPreparation* p) { p->mutable_tensor(0)->set_name("w"); }, "\"w\" occurs twice");
  rejected([](PackedPreparation* p) { *p->add_tensor() = p->tensor(0); },
           "\"constant\" occurs twice");
  rejected([](PackedPreparation* p) { p->mutable_tensor(0)->set_dims(0, 1); },
           "bytes of tensor \"constant\"");
  rejected([](PackedPreparation* p) { p->mutable_tensor(0)->mutable_block()->set_offset(1 << 20); },
           "want a place between");
  rejected(
      [](PackedPreparation* p) {
        PackedForm* const form = p->mutable_tensor(0)->add_form();
        form->set_key("key");
        form->mutable_block()->set_offset(128);
        form->mutable_block()->set_size(uint64_t{1} << 40);
      },
      "want a place between");
  rejected(
      [](PackedPreparation* p) {  // the bytes of "w" a second time, and more
        PackedForm* const form = p->mutable_tensor(0)->add_form();
        form->set_key("key");
        form->mutable_block()->set_offset(128);
        form->mutable_block()->set_size(192);
        PackedForm* const second = p->mutable_tensor(0)->add_form();
        *second = *form;
        second->set_key("second");
      },
      "bytes of all blocks together");
}

// Reading many tensors of one block would take much longer than reading the file.
TEST_F(PackFileTest, RejectsBlocksThatOverlap) {
  ExpectIndexRejected(
      [](PackedIndex* index) {
        const PackedTensor first = index->tensor(0);
        for (int i = 0; i < 100; ++i) {
          PackedTensor* const copy = index->add_tensor();
          *copy = first;
          copy->set_name("copy" + std::to_string(i));
        }
      },
      "bytes of all blocks together");
}

TEST_F(PackFileTest, RejectsShapesAndTypes) {
  const auto rejected = [&](const std::function<void(PackedTensor*)>& edit,
                            const std::string& part) {
    ExpectIndexRejected([&](PackedIndex* index) { edit(index->mutable_tensor(0)); }, part);
  };
  rejected([](PackedTensor* t) { t->set_dims(0, 4); }, "bytes of tensor \"w\"");
  rejected([](PackedTensor* t) { t->set_dims(0, -3); }, "dimension");
  rejected([](PackedTensor* t) { t->add_dims(INT64_MAX); }, "");
  rejected([](PackedTensor* t) { t->add_dims(int64_t{1} << 62); }, "");
  rejected(
      [](PackedTensor* t) {
        for (int i = 0; i < 100; ++i) t->add_dims(1);
      },
      "rank");
  rejected([](PackedTensor* t) { t->set_data_type(TensorProto::STRING); },
           "want one of plain data");
  rejected([](PackedTensor* t) { t->set_data_type(0); }, "want one of plain data");
  rejected([](PackedTensor* t) { t->set_data_type(-7); }, "want one of plain data");
  rejected([](PackedTensor* t) { t->set_data_type(TensorProto::DOUBLE); }, "bytes of tensor");
  rejected([](PackedTensor* t) { t->set_scale(1); }, "want both or none");
  rejected([](PackedTensor* t) { t->clear_name(); }, "has no name");
  rejected([](PackedTensor* t) { t->set_name("b"); }, "\"b\" occurs twice");
  rejected([](PackedTensor* t) { t->mutable_form(0)->clear_key(); }, "key of 0 bytes");
  rejected([](PackedTensor* t) { t->mutable_form(0)->set_key(std::string(5000, 'k')); }, "5000");
  rejected([](PackedTensor* t) { *t->add_form() = t->form(0); }, "different keys");
}

TEST_F(PackFileTest, RejectsOtherContents) {
  ExpectIndexRejected([](PackedIndex* index) { index->clear_predict_net(); }, "no predict net");
  ExpectIndexRejected([](PackedIndex* index) { index->add_blob()->set_name("w"); },
                      "\"w\" occurs twice");
  std::string bytes = WriteFile();
  bytes[192] = 2;
  ExpectRejected(bytes, "of bool tensor \"b\"");
  ExpectRejected(std::string(200, 'x'), "signature");
  ExpectThrows([&] { PackFile::Open(dir_.path("absent")); }, dir_.path("absent"));
  ExpectThrows([] { PackFile::Open("/dev/null"); }, "not a regular file");
}

// Reading a hole of this size would take minutes.
TEST_F(PackFileTest, OpensAHugeSparseFileWithoutReadingItsHoles) {
  constexpr uint64_t kHoleBytes = uint64_t{1} << 40;
  std::string bytes = WriteFile();
  PackedIndex index = PackFile::Open(path_)->index();
  PackedTensor* const b = index.mutable_tensor(1);
  b->set_dims(1, static_cast<int64_t>(kHoleBytes));
  const uint64_t index_offset = b->block().offset() + kHoleBytes;
  b->set_dims(0, 1);
  b->mutable_block()->set_size(kHoleBytes);
  index.mutable_tensor(0)->clear_form();  // it was in the place of the hole
  const std::string index_bytes = index.SerializeAsString();
  bytes.resize(b->block().offset());
  Put<uint64_t>(16, index_offset + index_bytes.size(), &bytes);
  Put<uint64_t>(24, index_offset, &bytes);
  Put<uint64_t>(32, index_bytes.size(), &bytes);
  Put(40, ContentSum(index_bytes.data(), index_bytes.size()), &bytes);
  Put(120, ContentSum(bytes.data(), 120), &bytes);
  const std::string sparse = dir_.Write("sparse", bytes);
  std::error_code error;
  std::filesystem::resize_file(sparse, index_offset, error);
  if (error) GTEST_SKIP() << "the file system has no files of 1 TiB: " << error.message();
  std::ofstream(sparse, std::ios::app | std::ios::binary) << index_bytes;
  EXPECT_EQ(PackFile::Open(sparse)->index().tensor(1).block().size(), kHoleBytes);

  // The byte is in the middle of the hole.
  std::fstream file(sparse, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(b->block().offset() + kHoleBytes / 2));
  file << '\2';
  file.close();
  ExpectThrows([&] { PackFile::Open(sparse); },
               "element 549755813888 of bool tensor \"b\" has the byte 2, want 0 or 1");
}

TEST_F(PackFileTest, AMappingKeepsTheFileThatItOpened) {
  WriteFile();
  const auto file = PackFile::Open(path_);
  dir_.Write("other", "x");
  std::filesystem::rename(dir_.path("other"), path_);
  EXPECT_EQ(*static_cast<const float*>(file->data(file->index().tensor(0).block())), 1);
}

}  // namespace
}  // namespace caffe2rt::pack_file_test
