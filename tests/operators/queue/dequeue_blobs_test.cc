#include "tests/support/operator_test.h"

namespace caffe2rt::test::dequeue_blobs_test {
namespace {

constexpr char kDequeue[] = "type: 'DequeueBlobs' input: 'q' output: 'y' ";
constexpr char kSafe[] = "type: 'SafeDequeueBlobs' input: 'q' output: 'y' output: 'status' ";
constexpr char kTwo[] = "arg { name: 'num_records' i: 2 }";

class DequeueBlobsTest : public testing::Test {
 protected:
  DequeueBlobsTest() {
    RunOp(&ws_, "type: 'CreateBlobsQueue' output: 'q' arg { name: 'capacity' i: 4 }");
  }
  void Enqueue() { RunOp(&ws_, "type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'"); }
  template <class T>
  void Enqueue(const std::vector<int64_t>& dims, const std::vector<T>& values) {
    Feed<T>(&ws_, "x", dims, values);
    Enqueue();
  }
  void Close() { RunOp(&ws_, "type: 'CloseBlobsQueue' input: 'q'"); }
  Workspace ws_;
};

TEST_F(DequeueBlobsTest, ReturnsTheOldestRecord) {
  Enqueue<float>({2}, {1, 2});
  Enqueue<int64_t>({}, {3});
  RunOp(&ws_, kDequeue);
  ExpectTensor<float>(ws_, "y", {2}, {1, 2});
  RunOp(&ws_, kSafe);
  ExpectTensor<int64_t>(ws_, "y", {}, {3});
  ExpectTensor<bool>(ws_, "status", {}, {false});
}

TEST_F(DequeueBlobsTest, FailsOnAnEmptyAndClosedQueueOrReturnsThatInTheStatus) {
  Enqueue<float>({2}, {1, 2});
  Close();
  RunOp(&ws_, kDequeue);
  ExpectTensor<float>(ws_, "y", {2}, {1, 2});
  EXPECT_THROW(RunOp(&ws_, kDequeue), EnforceNotMet);
  RunOp(&ws_, kSafe);
  ExpectTensor<bool>(ws_, "status", {}, {true});
  ExpectTensor<float>(ws_, "y", {2}, {1, 2});
}

TEST_F(DequeueBlobsTest, FailsAfterTheTimeout) {
  EXPECT_THROW(RunOp(&ws_, MakeString(kDequeue, "arg { name: 'timeout_secs' f: 0.001 }")),
               EnforceNotMet);
}

TEST_F(DequeueBlobsTest, JoinsSeveralRecords) {
  Enqueue<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Enqueue<float>({1, 3}, {7, 8, 9});
  RunOp(&ws_, MakeString(kSafe, kTwo));
  ExpectTensor<float>(ws_, "y", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ExpectTensor<bool>(ws_, "status", {}, {false});
  Enqueue<float>({0, 3}, {});
  Enqueue<float>({1, 3}, {7, 8, 9});
  RunOp(&ws_, MakeString(kSafe, kTwo));
  ExpectTensor<float>(ws_, "y", {1, 3}, {7, 8, 9});
}

TEST_F(DequeueBlobsTest, JoinsTheRecordsThatAreLeft) {
  Enqueue<float>({1}, {1});
  Close();
  RunOp(&ws_, MakeString(kSafe, kTwo));
  ExpectTensor<float>(ws_, "y", {1}, {1});
  ExpectTensor<bool>(ws_, "status", {}, {false});
  RunOp(&ws_, MakeString(kSafe, kTwo));
  ExpectTensor<bool>(ws_, "status", {}, {true});
}

TEST_F(DequeueBlobsTest, JoinsOnlyTensorsWithEqualRows) {
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunOp(&ws_, MakeString(kSafe, kTwo)); }, part);
  };
  Enqueue<float>({}, {1});
  Enqueue<float>({}, {1});
  rejects("want at least one dimension to join them");
  Enqueue<float>({1}, {1});
  Enqueue<int64_t>({1}, {1});
  rejects("blob 0 of a record is");
  Enqueue<float>({1, 2}, {1, 2});
  Enqueue<float>({1, 3}, {1, 2, 3});
  rejects("elements in a row of blob 0 of a record");
}

// Run on the CPU only: on a device the test's workspace keeps strings to itself.
TEST_F(DequeueBlobsTest, HandsOnBlobsOfAnyType) {
  *ws_.CreateBlob("s")->GetMutable<std::string>() = "text";
  ws_.RunOperatorOnce(ParseOp("type: 'EnqueueBlobs' input: 'q' input: 's' output: 's'"));
  ws_.RunOperatorOnce(ParseOp(kDequeue));
  EXPECT_EQ(ws_.GetBlob("y")->Get<std::string>(), "text");
  for (int i = 0; i < 2; ++i) {
    *ws_.CreateBlob("s")->GetMutable<std::string>() = "text";
    ws_.RunOperatorOnce(ParseOp("type: 'EnqueueBlobs' input: 'q' input: 's' output: 's'"));
  }
  ExpectThrows([&] { ws_.RunOperatorOnce(ParseOp(MakeString(kSafe, kTwo))); }, "Tensor");
}

TEST_F(DequeueBlobsTest, RejectsInvalidUses) {
  Enqueue<float>({1}, {1});
  ExpectThrows([&] { RunOp(&ws_, MakeString(kSafe, "arg { name: 'num_records' i: 0 }")); },
               "argument \"num_records\" is 0, want above 0");
  ExpectThrows([&] { RunOp(&ws_, MakeString(kDequeue, "output: 'z'")); },
               "outputs, want as many as a record of the queue has blobs");
  ExpectThrows([&] { RunOp(&ws_, MakeString(kSafe, "output: 'z'")); },
               "outputs before the status, want as many as a record of the queue has blobs");
  ExpectThrows([&] { RunOp(&ws_, "type: 'SafeDequeueBlobs' input: 'q' output: 's'"); },
               "1 output, ");
  Feed<float>(&ws_, "q", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, kDequeue); }, "input 0");
}

}  // namespace
}  // namespace caffe2rt::test::dequeue_blobs_test
