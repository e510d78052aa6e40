#include "tests/support/operator_test.h"

namespace caffe2rt::test::enqueue_blobs_test {
namespace {

constexpr char kEnqueue[] = "type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'";
constexpr char kSafe[] =
    "type: 'SafeEnqueueBlobs' input: 'q' input: 'x' output: 'x' output: 'status'";

class EnqueueBlobsTest : public testing::Test {
 protected:
  void Create(int capacity, int num_blobs = 1) {
    RunOp(&ws_, MakeString("type: 'CreateBlobsQueue' output: 'q' arg { name: 'capacity' i: ",
                           capacity, " } arg { name: 'num_blobs' i: ", num_blobs, " }"));
    Feed<float>(&ws_, "x", {2}, {1, 2});
  }
  void Close() { RunOp(&ws_, "type: 'CloseBlobsQueue' input: 'q'"); }
  Workspace ws_;
};

TEST_F(EnqueueBlobsTest, MovesTheContentOfTheBlobs) {
  Create(2);
  RunOp(&ws_, kEnqueue);
  EXPECT_TRUE(ws_.GetBlob("x")->IsEmpty());
  RunOp(&ws_, kSafe);
  ExpectTensor<bool>(ws_, "status", {}, {false});
}

TEST_F(EnqueueBlobsTest, FailsOnAFullAndClosedQueueOrReturnsThatInTheStatus) {
  Create(1);
  Close();
  RunOp(&ws_, kSafe);  // there is still room
  ExpectTensor<bool>(ws_, "status", {}, {false});
  Feed<float>(&ws_, "x", {2}, {1, 2});
  EXPECT_THROW(RunOp(&ws_, kEnqueue), EnforceNotMet);
  RunOp(&ws_, kSafe);
  ExpectTensor<bool>(ws_, "status", {}, {true});
  ExpectTensor<float>(ws_, "x", {2}, {1, 2});
}

TEST_F(EnqueueBlobsTest, RejectsAnotherNumberOfBlobs) {
  Create(1, 2);
  ExpectThrows([&] { RunOp(&ws_, kEnqueue); }, "blobs to enqueue, want as many as a record has");
  ExpectThrows([&] { RunOp(&ws_, kSafe); }, "blobs to enqueue, want as many as a record has");
  ExpectTensor<float>(ws_, "x", {2}, {1, 2});
}

TEST_F(EnqueueBlobsTest, IsInPlace) {
  Create(1);
  ExpectThrows([&] { RunOp(&ws_, "type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'y'"); },
               "must be the same blob");
  ExpectThrows([&] { RunOp(&ws_, "type: 'EnqueueBlobs' input: 'q'"); }, "0 outputs");
  ExpectThrows([&] { RunOp(&ws_, "type: 'SafeEnqueueBlobs' input: 'q' input: 'x' output: 'x'"); },
               "1 output, ");
}

TEST_F(EnqueueBlobsTest, RejectsABlobWithoutQueue) {
  Create(1);
  Feed<float>(&ws_, "q", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, kEnqueue); }, "input 0");
}

}  // namespace
}  // namespace caffe2rt::test::enqueue_blobs_test
