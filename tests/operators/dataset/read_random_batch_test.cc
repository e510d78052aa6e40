#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::read_random_batch_test {
namespace {

class ReadRandomBatchTest : public testing::Test {
 protected:
  ReadRandomBatchTest() {
    FeedLists(&ws_);
    CreateListCursor(&ws_);
    RunOp(&ws_,
          "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'o'");
    Feed<int64_t>(&ws_, "order", {4}, {3, 1, 2, 0});
  }
  void Read(int batch_size, const std::string& rest = "") {
    RunOp(&ws_,
          MakeString("type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'o' input: "
                     "'l' input: 'v' input: 'b' output: 'l1' output: 'v1' output: 'b1' arg { "
                     "name: 'batch_size' i: ",
                     batch_size, " } ", rest));
  }
  std::vector<int64_t> ReadB(int batch_size, const std::string& rest) {
    Read(batch_size, rest);
    return Fetch<int64_t>(ws_, "b1");
  }
  Workspace ws_;
};

using Records = std::vector<int64_t>;
constexpr char kEnforce[] = "arg { name: 'enforce_batch_size' i: 1 } ";
constexpr char kLoop[] = "arg { name: 'loop_over' i: 1 } ";

TEST_F(ReadRandomBatchTest, ReadsRecordsInTheGivenOrder) {
  Read(2);
  ExpectTensor<int32_t>(ws_, "l1", {2}, {3, 2});
  ExpectTensor<float>(ws_, "v1", {5}, {3, 4, 5, 1, 2});
  ExpectTensor<int64_t>(ws_, "b1", {2}, {4, 2});
  Read(3);
  ExpectTensor<int32_t>(ws_, "l1", {2}, {0, 1});
  ExpectTensor<float>(ws_, "v1", {1}, {0});
  ExpectTensor<int64_t>(ws_, "b1", {2}, {3, 1});
  Read(3);
  ExpectTensor<float>(ws_, "v1", {0}, {});
  Read(-1);
  ExpectTensor<float>(ws_, "v1", {0}, {});
}

TEST_F(ReadRandomBatchTest, ReturnsNoSmallBatchIfTheSizeIsEnforced) {
  EXPECT_EQ(ReadB(3, kEnforce), (Records{4, 2, 3}));
  EXPECT_EQ(ReadB(3, kEnforce), Records{});
}

TEST_F(ReadRandomBatchTest, BeginsAgainIfItLoops) {
  EXPECT_EQ(ReadB(3, kLoop), (Records{4, 2, 3}));
  EXPECT_EQ(ReadB(3, kLoop), (Records{1}));
  EXPECT_EQ(ReadB(3, kLoop), (Records{4, 2, 3}));
  EXPECT_EQ(ReadB(3, std::string(kLoop) + kEnforce), (Records{4, 2, 3}));
  EXPECT_EQ(ReadB(9, std::string(kLoop) + kEnforce), (Records{4, 2, 3, 1}));
}

TEST_F(ReadRandomBatchTest, BeginsAgainBehindABatchThatEndsWithTheLastRecord) {
  EXPECT_EQ(ReadB(2, kLoop), (Records{4, 2}));
  EXPECT_EQ(ReadB(2, kLoop), (Records{3, 1}));
  EXPECT_EQ(ReadB(2, kLoop), (Records{4, 2}));
}

TEST_F(ReadRandomBatchTest, RejectsRecordsAndOffsetsOutOfRange) {
  for (const int64_t record : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    Feed<int64_t>(&ws_, "order", {1}, {record});
    RunOp(&ws_, "type: 'ResetCursor' input: 'cursor'");
    ExpectThrows([&] { Read(1); }, "want 0 to 3");
  }
  Feed<int64_t>(&ws_, "order", {1}, {0});
  const auto rejects = [&](const std::vector<int64_t>& offsets) {
    Feed<int64_t>(&ws_, "o", {2, 2}, offsets);
    RunOp(&ws_, "type: 'ResetCursor' input: 'cursor'");
    ExpectThrows([&] { Read(1); }, "input 2 (offsets) states that record 0 has rows");
  };
  rejects({0, -1, 1, 1});
  rejects({0, 0, 5, 1});
  rejects({0, 2, 1, 1});
  rejects({0, 0, INT64_MAX, 1});
}

TEST_F(ReadRandomBatchTest, RejectsInvalidInputs) {
  Feed<int64_t>(&ws_, "o", {5}, {0, 1, 2, 3, 4});
  ExpectThrows([&] { Read(1); }, "input 2 (offsets) has shape [5], want two dimensions");
  Feed<int64_t>(&ws_, "o", {0, 2}, {});
  ExpectThrows([&] { Read(1); }, "input 1 (order) has 3 at position 0");
  Feed<int32_t>(&ws_, "order", {1}, {0});
  EXPECT_THROW(Read(1), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::read_random_batch_test
