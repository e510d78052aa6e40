#include <thread>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/net.h"
#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::read_next_batch_test {
namespace {

class ReadNextBatchTest : public testing::Test {
 protected:
  ReadNextBatchTest() {
    FeedLists(&ws_);
    CreateListCursor(&ws_);
  }
  void Read(int batch_size, const std::string& rest = "") {
    RunOp(&ws_, MakeString("type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' "
                           "output: 'l1' output: 'v1' output: 'b1' arg { name: 'batch_size' i: ",
                           batch_size, " } ", rest));
  }
  void ExpectBatch(const std::vector<int32_t>& l, const std::vector<float>& v,
                   const std::vector<int64_t>& b) {
    ExpectTensor<int32_t>(ws_, "l1", {static_cast<int64_t>(l.size())}, l);
    ExpectTensor<float>(ws_, "v1", {static_cast<int64_t>(v.size())}, v);
    ExpectTensor<int64_t>(ws_, "b1", {static_cast<int64_t>(b.size())}, b);
  }
  Workspace ws_;
};

TEST_F(ReadNextBatchTest, ReadsTheRowsOfTheNextRecordsAndThenNothing) {
  Read(3);
  ExpectBatch({1, 2, 0}, {0, 1, 2}, {1, 2, 3});
  Read(3);
  ExpectBatch({3}, {3, 4, 5}, {4});
  Read(3);
  ExpectBatch({}, {}, {});
  RunOp(&ws_, "type: 'ResetCursor' input: 'cursor'");
  Read(0);
  ExpectBatch({}, {}, {});
  Read(1);
  ExpectBatch({1}, {0}, {1});
}

TEST_F(ReadNextBatchTest, ReturnsNoSmallBatchIfTheSizeIsEnforced) {
  const char* const enforce = "arg { name: 'enforce_batch_size' i: 1 }";
  Read(3, enforce);
  ExpectBatch({1, 2, 0}, {0, 1, 2}, {1, 2, 3});
  Read(3, enforce);
  ExpectBatch({}, {}, {});
}

TEST_F(ReadNextBatchTest, ReadsNestedListsRowsAndStrings) {
  CreateCursor(&ws_, {"a:lengths", "a:values:lengths", "a:values:values", "s"});
  Feed<int32_t>(&ws_, "l", {2}, {1, 2});
  Feed<int32_t>(&ws_, "m", {3}, {2, 0, 1});
  FeedRange<float>(&ws_, "v", {3, 2});
  Feed<std::string>(&ws_, "s", {2}, {"x", "yy"});
  const std::string op =
      "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'm' input: 'v' input: 's' output: "
      "'l1' output: 'm1' output: 'v1' output: 's1'";
  RunOp(&ws_, op);
  ExpectTensor<int32_t>(ws_, "m1", {1}, {2});
  ExpectTensor<float>(ws_, "v1", {2, 2}, {0, 1, 2, 3});
  ExpectTensor<std::string>(ws_, "s1", {1}, {"x"});
  RunOp(&ws_, op);
  ExpectTensor<int32_t>(ws_, "m1", {2}, {0, 1});
  ExpectTensor<float>(ws_, "v1", {1, 2}, {4, 5});
  ExpectTensor<std::string>(ws_, "s1", {1}, {"yy"});
}

TEST_F(ReadNextBatchTest, ReadsAsManyRecordsAsAllFieldsHave) {
  Feed<int64_t>(&ws_, "b", {2}, {1, 2});
  Read(3);
  ExpectBatch({1, 2}, {0, 1, 2}, {1, 2});
}

TEST_F(ReadNextBatchTest, AcceptsLengthsOfAnyTypeWithoutRows) {
  Feed<int64_t>(&ws_, "l", {0}, {});
  Feed<float>(&ws_, "v", {0}, {});
  Feed<int64_t>(&ws_, "b", {0}, {});
  Read(1);
  ExpectTensor<int64_t>(ws_, "l1", {0}, {});
}

TEST_F(ReadNextBatchTest, RejectsLengthsThatDoNotFitAndStaysWhereItIs) {
  Feed<int32_t>(&ws_, "l", {4}, {1, 2, 0, 4});
  ExpectThrows([&] { Read(4); }, "lengths in field \"a:lengths\" reach row 7");
  Read(2);
  ExpectBatch({1, 2}, {0, 1, 2}, {1, 2});
  RunOp(&ws_, "type: 'ResetCursor' input: 'cursor'");
  Feed<int32_t>(&ws_, "l", {4}, {1, -2, 0, 4});
  ExpectThrows([&] { Read(2); }, "of field \"a:values\" are read");
}

TEST_F(ReadNextBatchTest, RejectsAPositionFromAFileThatDoesNotFit) {
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(*ws_.GetBlob("cursor"), "cursor")));
  for (const int64_t row : {int64_t{-1}, INT64_MAX, int64_t{5}}) {
    TensorProto* const offsets = proto.mutable_tensor();
    offsets->Clear();
    offsets->add_dims(2);
    offsets->set_data_type(TensorProto::INT64);
    offsets->add_int64_data(1);
    offsets->add_int64_data(row);
    DeserializeBlob(proto, ws_.CreateBlob("cursor"));
    EXPECT_THROW(Read(2), EnforceNotMet) << row;
  }
}

TEST_F(ReadNextBatchTest, RejectsInvalidInputs) {
  ExpectThrows([&] { Read(-1); }, "argument \"batch_size\" is -1, want at least 0");
  ExpectThrows(
      [&] { RunOp(&ws_, "type: 'ReadNextBatch' input: 'cursor' input: 'l' output: 'l1'"); },
      "inputs for the fields of the dataset");
  ExpectThrows(
      [&] {
        RunOp(
            &ws_,
            "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1'");
      },
      "outputs, want at least one for each field");
  Feed<int64_t>(&ws_, "l", {4}, {1, 2, 0, 3});
  ExpectThrows([&] { Read(1); }, "input 1 (a:lengths) is");
  Feed<int32_t>(&ws_, "l", {}, {1});
  ExpectThrows([&] { Read(1); }, "input 1 (a:lengths) has no dimension");
}

TEST_F(ReadNextBatchTest, GivesEachRecordToOneOfSeveralThreads) {
  constexpr int64_t kRecords = 1000;
  CreateCursor(&ws_, {"b"});
  FeedRange<int64_t>(&ws_, "b", {kRecords}, 1);
  int64_t sums[2] = {0, 0};
  const auto run = [&](int t) {
    NetBase* const net = ws_.GetNet(MakeString("n", t));
    const std::string out = MakeString("out", t);
    do {
      net->Run();
      for (const int64_t b : Fetch<int64_t>(ws_, out)) sums[t] += b;
    } while (DimsOf(ws_, out)[0] > 0);
  };
  for (int t = 0; t < 2; ++t) {
    ws_.CreateNet(ParseNet(MakeString("name: 'n", t,
                                      "' op { type: 'ReadNextBatch' input: 'cursor' "
                                      "input: 'b' output: 'out",
                                      t, "' arg { name: 'batch_size' i: 3 } }")));
  }
  std::thread thread(run, 0);
  run(1);
  thread.join();
  EXPECT_EQ(sums[0] + sums[1], kRecords * (kRecords + 1) / 2);
}

}  // namespace
}  // namespace caffe2rt::test::read_next_batch_test
