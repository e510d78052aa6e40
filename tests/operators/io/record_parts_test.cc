// Records of images with all parts that they may have, through the operator; parts of blobs that
// Load joins; and what CreateDB passes on to its reader.

#include <gmock/gmock.h>

#include <algorithm>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/record_checksum.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::record_parts_test {
namespace {

using ::testing::ElementsAre;

// Appends a tensor in text form.
std::string PartsRecord(const std::vector<std::string>& tensors) {
  TensorProtos record;
  for (const std::string& text : tensors) ParseTextProto(text, "test", record.add_protos());
  return record.SerializeAsString();
}
std::string IntsPart(const std::vector<int>& values) {
  std::string text = "data_type: INT32";
  for (const int value : values) text += MakeString(" int32_data: ", value);
  return text;
}
std::string FloatsPart(const std::vector<double>& values) {
  std::string text = "data_type: FLOAT";
  for (const double value : values) text += MakeString(" float_data: ", value);
  return text;
}
// [2, 2, 1]: 10 20 / 30 40
const char kGreySquare[] = "data_type: BYTE dims: [2, 2, 1] byte_data: '\\n\\024\\036('";

class RecordPartsTest : public ::testing::Test {
 protected:
  // Creates ImageInput over the records, for images of one pixel.
  std::unique_ptr<OperatorBase> Images(const std::vector<std::string>& records,
                                       const std::string& more) {
    Records by_key;
    for (size_t i = 0; i < records.size(); ++i) by_key[MakeString("k", i)] = records[i];
    Put("minidb", dir_.path("m"), db::NEW, by_key);
    return CreateOperator(
        ParseOp("type: 'ImageInput' output: 'data' output: 'label' arg { name: 'db_type' s: "
                "'minidb' } arg { name: 'db' s: '" +
                dir_.path("m") + "' } arg { name: 'crop' i: 1 } arg { name: 'scale' i: 1 } " +
                "arg { name: 'is_test' i: 1 } " + more),
        &ws_);
  }
  static std::string Arg(const std::string& name, int64_t value) {
    return MakeString(" arg { name: '", name, "' i: ", value, " } ");
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

// The weights stand between the label and the additional outputs, and the box behind them.
TEST_F(RecordPartsTest, WeightsAdditionalOutputsAndABoxFollowTheLabel) {
  const auto box = [](int y, int x) { return IntsPart({y, x, 1, 1}); };
  const auto op =
      Images({PartsRecord({kGreySquare, IntsPart({2, 0}), FloatsPart({0.5, 4}), IntsPart({7, 8}),
                           FloatsPart({9}), box(1, 0)}),
              PartsRecord({kGreySquare, IntsPart({1}), FloatsPart({-3}), IntsPart({5, 6}),
                           FloatsPart({1.5}), box(0, 1)})},
             Arg("batch_size", 2) + Arg("label_type", 3) + Arg("num_labels", 3) +
                 "output: 'pair' output: 'one' arg { name: 'output_sizes' ints: 2 ints: 1 }");
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(op->Run());
    ExpectTensor<float>(ws_, "data", {2, 3, 1, 1}, {30, 30, 30, 20, 20, 20});
    ExpectTensor<float>(ws_, "label", {2, 3}, {4, 0, 0.5f, 0, -3, 0});
    ExpectTensor<int32_t>(ws_, "pair", {2, 2}, {7, 8, 5, 6});
    ExpectTensor<float>(ws_, "one", {2}, {9, 1.5f});
  }
}

TEST_F(RecordPartsTest, EveryLabelTypeWritesItsShape) {
  const auto run = [&](int type, int length, const std::vector<std::string>& labels) {
    std::vector<std::string> records;
    for (const std::string& label : labels) records.push_back(PartsRecord({kGreySquare, label}));
    const auto op = Images(records, Arg("batch_size", static_cast<int64_t>(labels.size())) +
                                        Arg("label_type", type) + Arg("num_labels", length));
    ASSERT_TRUE(op->Run());
  };
  run(1, 4, {IntsPart({3}), IntsPart({0, 3, 0}), IntsPart({})});
  ExpectTensor<int32_t>(ws_, "label", {3, 4}, {0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0});
  run(2, 3, {IntsPart({1, 2, 3}), IntsPart({4, 5, 6})});
  ExpectTensor<int32_t>(ws_, "label", {2, 3}, {1, 2, 3, 4, 5, 6});
  run(2, 1, {FloatsPart({0.5}), FloatsPart({2.5})});  // one number, yet a row
  ExpectTensor<float>(ws_, "label", {2, 1}, {0.5f, 2.5f});
  run(4, 0, {IntsPart({8}), IntsPart({9})});
  ExpectTensor<int32_t>(ws_, "label", {2}, {8, 9});
  run(0, 5, {FloatsPart({8}), FloatsPart({-9})});
  ExpectTensor<float>(ws_, "label", {2}, {8, -9});
}

// A label that does not fit is that of its record, whatever its place in the batch.
TEST_F(RecordPartsTest, LabelsThatDoNotFitNameTheirRecord) {
  const auto error = [&](const std::vector<std::string>& labels, const std::string& more) {
    std::vector<std::string> records;
    for (const std::string& label : labels) records.push_back(PartsRecord({kGreySquare, label}));
    const auto op = Images(records, Arg("batch_size", 2) + more);
    return MessageOf([&] { op->Run(); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error({IntsPart({1}), IntsPart({1, 2})}, ""),
              HasSubstr("label of record \"k1\": numbers: got 2, want 1"));
  EXPECT_THAT(error({IntsPart({1}), IntsPart({})}, ""),
              HasSubstr("label of record \"k1\": numbers: got 0, want 1"));
  EXPECT_THAT(error({IntsPart({1, 2, 3}), FloatsPart({1, 2, 3})},
                    Arg("label_type", 2) + Arg("num_labels", 3)),
              HasSubstr("label of record \"k1\": it is of another type than in the records before, "
                        "want int"));
  EXPECT_THAT(error({IntsPart({2}), IntsPart({0, 3})}, Arg("label_type", 1) + Arg("num_labels", 3)),
              HasSubstr("label of record \"k1\": index 1 is 3, want 0 to 2"));
}

// The rows of the labels are cleared for every batch.
TEST_F(RecordPartsTest, LabelsOfABatchHaveNothingOfTheOneBefore) {
  const auto op =
      Images({PartsRecord({kGreySquare, IntsPart({0, 1, 2})}),
              PartsRecord({kGreySquare, IntsPart({})}), PartsRecord({kGreySquare, IntsPart({1})})},
             Arg("batch_size", 1) + Arg("label_type", 1) + Arg("num_labels", 3));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto& want : {std::vector<int32_t>{1, 1, 1}, {0, 0, 0}, {0, 1, 0}}) {
      ASSERT_TRUE(op->Run());
      ExpectTensor<int32_t>(ws_, "label", {1, 3}, want);
    }
  }
}

// Each record that is left out is logged with what is wrong, and counted.
TEST_F(RecordPartsTest, WhatIsLeftOutIsLogged) {
  const std::string good = PartsRecord({kGreySquare, IntsPart({5})});
  const std::string damaged = [&] {
    std::string record = WithChecksum(good);
    record[3] ^= 1;
    return record;
  }();
  std::vector<std::string> texts;
  const int threshold = LogThreshold();
  SetLogThreshold(1);  // warnings
  SetLogSink([&](const LogEntry& entry) { texts.emplace_back(entry.text); });
  const auto images = Images({good, damaged}, Arg("batch_size", 1) + Arg("no_prefetch", 1) +
                                                  "arg { name: 'on_error' s: 'skip' }");
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(images->Run());
  ws_.CreateBlob("r")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"));
  const std::string op =
      "type: 'TensorProtosDBInput' input: 'r' output: 'x' output: 'y' arg { name: 'no_prefetch' i: "
      "1 }";
  const auto tensors = CreateOperator(ParseOp(op + "arg { name: 'on_error' s: 'skip' }"), &ws_);
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(tensors->Run());
  SetLogSink(nullptr);
  SetLogThreshold(threshold);
  const std::string why =
      "the record's bytes do not match its checksum: it was damaged after it was written";
  EXPECT_THAT(texts,
              ElementsAre("ImageInput leaves out a damaged record: record \"k1\": " + why,
                          "TensorProtosDBInput leaves out a damaged record: record k1: " + why));
  const auto stops = CreateOperator(ParseOp(op), &ws_);
  EXPECT_EQ(MessageOf([&] { stops->Run(), stops->Run(); }), "record k1: " + why);
}

TEST_F(RecordPartsTest, DatumsMayBeFilesAndGrey) {
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {9, 80, 7}});
  const auto datum = [](int channels, const std::string& data, bool encoded, int label) {
    CaffeDatum proto;
    if (!encoded) {
      proto.set_channels(channels);
      proto.set_height(1);
      proto.set_width(static_cast<int>(data.size()) / channels);
    }
    proto.set_data(data);
    proto.set_encoded(encoded);
    proto.set_label(label);
    return proto.SerializeAsString();
  };
  const std::vector<std::string> records = {datum(3, ReadWholeFile(dir_.path("a.png")), true, 5),
                                            datum(1, "\x11", false, 6),
                                            datum(3, "\1\2\3", false, -1)};
  const std::string more = Arg("batch_size", 3) + Arg("use_caffe_datum", 1);
  ASSERT_TRUE(Images(records, more)->Run());
  ExpectTensor<float>(ws_, "data", {3, 3, 1, 1}, {7, 80, 9, 17, 17, 17, 1, 2, 3});
  ExpectTensor<int32_t>(ws_, "label", {3}, {5, 6, -1});
  ASSERT_TRUE(Images(records, more + Arg("color", 0))->Run());
  // 0.299 * 9 + 0.587 * 80 + 0.114 * 7 = 50.449, and 0.299 * 3 + 0.587 * 2 + 0.114 = 2.185
  ExpectTensor<float>(ws_, "data", {3, 1, 1, 1}, {50, 17, 2});
}

// Half of a grey step is rounded up: 0.587 * 250 is 146.75, 0.299 * 5 is 1.495, 0.114 * 250 is
// 28.5.
TEST_F(RecordPartsTest, GreyIsRounded) {
  const std::vector<std::pair<std::string, float>> pixels = {{"\\000\\372\\000", 147.0f},
                                                             {"\\000\\000\\005", 1.0f},
                                                             {"\\372\\000\\000", 29.0f},
                                                             {"\\377\\377\\377", 255.0f}};
  for (const auto& [bytes, grey] : pixels) {
    const std::string pixel = "data_type: BYTE dims: [1, 1, 3] byte_data: '" + bytes + "'";
    ASSERT_TRUE(
        Images({PartsRecord({pixel, IntsPart({0})})}, Arg("batch_size", 1) + Arg("color", 0))
            ->Run());
    ExpectTensor<float>(ws_, "data", {1, 1, 1, 1}, {grey});
  }
}

// A damaged record is left out wherever it is in its batch; the others keep their order.
TEST_F(RecordPartsTest, DamagedRecordsAreReplacedByTheNextOnes) {
  const auto good = [](int label) { return PartsRecord({kGreySquare, IntsPart({label})}); };
  const std::string bad =
      PartsRecord({"data_type: BYTE dims: [2, 2, 1] byte_data: 'abc'", IntsPart({99})});
  for (const int threads : {1, 3}) {
    for (const int prefetch : {0, 1}) {
      const auto op = Images({bad, good(1), bad, bad, good(2), good(3), bad},
                             Arg("batch_size", 2) + "arg { name: 'on_error' s: 'skip' }" +
                                 Arg("decode_threads", threads) + Arg("no_prefetch", 1 - prefetch));
      std::vector<int> labels;
      for (int run = 0; run < 3; ++run) {
        ASSERT_TRUE(op->Run());
        for (const int label : Fetch<int32_t>(ws_, "label")) labels.push_back(label);
      }
      std::vector<int> sorted = labels;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, (std::vector<int>{1, 1, 2, 2, 3, 3}));
    }
  }
}

class LoadedPartsTest : public RecordPartsTest {
 protected:
  std::string LoadError(const std::vector<std::pair<std::string, std::string>>& records,
                        const std::string& more) {
    {
      const auto database = db::CreateDB("minidb", dir_.path("parts"), db::NEW);
      const auto transaction = database->NewTransaction();
      for (const auto& [key, text] : records) {
        BlobProto proto;
        ParseTextProto(text, "test", &proto);
        transaction->Put(key, proto.SerializeAsString());
      }
    }
    const std::string op =
        "type: 'Load' arg { name: 'db' s: 'parts' } "
        "arg { name: 'db_type' s: 'minidb' } " +
        more;
    // Without an error MessageOf would fail.
    try {
      RunOp(&ws_, op);
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return "";
  }
};

std::string SegmentText(int dims, int begin, int end, double first) {
  std::string text = MakeString("type: 'Tensor' tensor { dims: ", dims, " segment { begin: ", begin,
                                " end: ", end, " }");
  for (int i = begin; i < end; ++i) text += MakeString(" float_data: ", first + i);
  return text + " }";
}

TEST_F(LoadedPartsTest, SegmentsComeInAnyOrderAndFillTheTensorOnce) {
  using ::testing::HasSubstr;
  EXPECT_EQ(LoadError({{"a#%2", SegmentText(5, 4, 5, 0)},
                       {"b", "type: 'Tensor' tensor { dims: 1 float_data: 8 }"},
                       {"a#%0", SegmentText(5, 0, 3, 0)},
                       {"a#%1", SegmentText(5, 3, 4, 0)}},
                      "output: 'a' output: 'b'"),
            "");
  ExpectTensor<float>(ws_, "a", {5}, {0, 1, 2, 3, 4});
  ExpectTensor<float>(ws_, "b", {1}, {8});
  EXPECT_THAT(LoadError({{"a#%0", SegmentText(3, 0, 2, 0)}, {"a#%1", SegmentText(3, 1, 3, 0)}},
                        "output: 'a'"),
              HasSubstr("Data size mismatch for blob a. Expected: 3 Read: 4"));
  EXPECT_THAT(LoadError({{"a#%0", SegmentText(2, 0, 2, 0)}, {"a#%1", SegmentText(2, 0, 1, 0)}},
                        "arg { name: 'load_all' i: 1 }"),
              HasSubstr("Found an extra part for an already filled tensor: a"));
}

TEST_F(LoadedPartsTest, PartsOfOneTensorHaveOneSize) {
  using ::testing::HasSubstr;
  const std::vector<std::pair<int, int>> sizes = {{3, 4}, {4, 3}};
  for (const auto& [first, second] : sizes) {
    EXPECT_THAT(
        LoadError({{"a#%0", SegmentText(first, 0, 2, 0)}, {"a#%1", SegmentText(second, 2, 3, 0)}},
                  "output: 'a'"),
        HasSubstr(MakeString("tensor \"a\" has ", second,
                             " elements according to one part "
                             "and ",
                             first, " according to another")));
  }
  // Other tensors have their own size.
  EXPECT_EQ(LoadError({{"a#%0", SegmentText(3, 0, 2, 0)},
                       {"b#%0", SegmentText(4, 0, 2, 0)},
                       {"a#%1", SegmentText(3, 2, 3, 0)},
                       {"b#%1", SegmentText(4, 2, 4, 0)}},
                      "output: 'a' output: 'b'"),
            "");
  EXPECT_EQ(DimsOf(ws_, "b"), std::vector<int64_t>{4});
}

TEST_F(LoadedPartsTest, OtherBlobsAreWholeWithAllOfTheirChunks) {
  using ::testing::HasSubstr;
  const auto chunk = [](int id, int of) {
    return MakeString("type: 'std::string' content: 'c", id, "' content_num_chunks: ", of,
                      " content_chunk_id: ", id);
  };
  EXPECT_THAT(
      LoadError({{"s#%0", chunk(0, 2)}}, "output: 's' arg { name: 'allow_incomplete' i: 1 }"),
      HasSubstr("Data size mismatch for blob s. Expected: 2 Read: 1"));
  EXPECT_EQ(LoadError({{"s#%0", chunk(0, 2)}, {"s#%1", chunk(1, 2)}}, "output: 's'"), "");
  EXPECT_TRUE(ws_.GetBlob("s")->IsType<std::string>());
}

// With add_prefix and strip_prefix the names that are matched are the new ones.
TEST_F(LoadedPartsTest, PrefixesChangeTheNamesThatAreMatched) {
  const std::vector<std::pair<std::string, std::string>> records = {
      {"g/net/a#%0", SegmentText(2, 0, 1, 0)},
      {"g/net/a#%1", SegmentText(2, 1, 2, 0)},
      {"other", "type: 'Tensor' tensor { dims: 1 float_data: 3 }"}};
  EXPECT_EQ(LoadError(records,
                      "output: 'x/a' output: 'x/other' arg { name: 'strip_prefix' s: "
                      "'net/' } arg { name: 'add_prefix' s: 'x/' }"),
            "");
  ExpectTensor<float>(ws_, "x/a", {2}, {0, 1});
  ExpectTensor<float>(ws_, "x/other", {1}, {3});
  EXPECT_EQ(LoadError(records,
                      "output: 'B' output: 'C' arg { name: 'add_prefix' s: 'x/' } arg { "
                      "name: 'source_blob_names' strings: 'x/other' strings: 'x/g/net/a' }"),
            "");
  ExpectTensor<float>(ws_, "B", {1}, {3});
  ExpectTensor<float>(ws_, "C", {2}, {0, 1});
  EXPECT_EQ(LoadError(records,
                      "output: 'x/other' output: 'none' "
                      "arg { name: 'allow_incomplete' i: 1 } "
                      "arg { name: 'add_prefix' s: 'x/' }"),
            "");
}

// Without an argument, Caffe2's defaults hold: leveldb, and a million elements in each record.
TEST_F(LoadedPartsTest, DefaultsAreThoseOfTheOriginal) {
  Put("leveldb", dir_.path("lev"), db::NEW, {{"k", PartsRecord({kGreySquare, IntsPart({4})})}});
  RunOp(&ws_, "type: 'CreateDB' output: 'r' arg { name: 'db' s: '" + dir_.path("lev") + "' }");
  std::string key, value;
  ws_.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(key, "k");
  RunOp(&ws_, "type: 'ImageInput' output: 'data' output: 'label' arg { name: 'db' s: '" +
                  dir_.path("lev") + "' }" + Arg("batch_size", 1) + Arg("crop", 1) +
                  Arg("scale", 1));
  ExpectTensor<int32_t>(ws_, "label", {1}, {4});
  const auto keys = [&](int64_t elements, const std::string& more) {
    std::vector<uint8_t> bytes(static_cast<size_t>(elements));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
    Feed<uint8_t>(&ws_, "b", {elements}, bytes);
    RunOp(&ws_,
          "type: 'Save' input: 'b' arg { name: 'db' s: 'saved' } arg { name: 'db_type' s: "
          "'minidb' } " +
              more);
    std::string all;
    for (const auto& [name, record] : GetAll("minidb", dir_.path("saved"))) all += name + " ";
    return all;
  };
  EXPECT_EQ(keys(1000000, ""), "b#%0 ");
  EXPECT_EQ(keys(1000001, ""), "b#%0 b#%1 ");
  EXPECT_EQ(keys(1000001, Arg("chunk_size", -1)), "b#%0 b#%1 ");
  EXPECT_EQ(keys(1000001, Arg("chunk_size", 0)), "b#%0 ");
  EXPECT_EQ(keys(6, Arg("chunk_size", 3)), "b#%0 b#%1 ");
  EXPECT_EQ(keys(7, Arg("chunk_size", 3)), "b#%0 b#%1 b#%2 ");
  EXPECT_EQ(keys(0, Arg("chunk_size", 3)), "b#%0 ");
  // Paths are below the root folder.
  RunOp(
      &ws_,
      "type: 'Load' output: 'b' arg { name: 'db' s: 'saved' } arg { name: 'db_type' s: 'minidb' }");
  ExpectTensor<uint8_t>(ws_, "b", {0}, {});
}

// Which keys the reader of CreateDB with these arguments gives.
class CreatedReaderTest : public RecordPartsTest {
 protected:
  CreatedReaderTest() {
    Records records;
    for (int i = 0; i < 6; ++i) records[MakeString(i)] = "v";
    Put("minidb", dir_.path("six"), db::NEW, records);
  }
  std::string KeysRead(int count, const std::string& more) {
    RunOp(&ws_,
          "type: 'CreateDB' output: 'r' arg { name: 'db_type' s: 'minidb' } "
          "arg { name: 'db' s: '" +
              dir_.path("six") + "' } " + more);
    std::string keys, key, value;
    for (int i = 0; i < count; ++i) {
      ws_.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
      keys += key;
    }
    return keys;
  }
};

TEST_F(CreatedReaderTest, GetsEachArgumentOfTheOrder) {
  EXPECT_EQ(KeysRead(8, ""), "01234501");
  EXPECT_EQ(KeysRead(5, Arg("num_shards", 3) + Arg("shard_id", 2)), "25252");
  // Blocks of five: 0 1 2 3 4, 5 0 1 2 3, 4 5 0 1 2; each begins with the first reader.
  EXPECT_EQ(KeysRead(9, Arg("num_shards", 2) + Arg("block", 5)), "024513402");
  EXPECT_EQ(KeysRead(6, Arg("num_shards", 2) + Arg("shard_id", 1) + Arg("block", 5)), "130251");
  EXPECT_EQ(KeysRead(5, Arg("num_shards", 2) + Arg("block", 5) + Arg("first_block", 1)), "51340");
  const std::string shuffled = KeysRead(12, Arg("shuffle", 1) + Arg("shuffle_seed", 3));
  for (const size_t epoch : {0u, 6u}) {
    std::string sorted = shuffled.substr(epoch, 6);
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, "012345");
  }
  EXPECT_EQ(KeysRead(12, Arg("shuffle", 1) + Arg("shuffle_seed", 3)), shuffled);
  EXPECT_NE(KeysRead(12, Arg("shuffle", 1) + Arg("shuffle_seed", 4)), shuffled);
  EXPECT_EQ(KeysRead(12, Arg("shuffle_seed", 3)), "012345012345");
  ExpectThrows([&] { KeysRead(1, Arg("block", -1)); }, "argument \"block\" is -1, want at least 0");
  ExpectThrows([&] { KeysRead(1, Arg("first_block", -1)); },
               "argument \"first_block\" is -1, want at least 0");
}

}  // namespace
}  // namespace caffe2rt::test::record_parts_test
