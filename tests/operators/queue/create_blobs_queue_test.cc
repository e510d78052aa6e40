#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::create_blobs_queue_test {
namespace {

void Create(Workspace* ws, const std::string& arguments) {
  RunOp(ws, "type: 'CreateBlobsQueue' output: 'q' " + arguments);
}

TEST(CreateBlobsQueueTest, CreatesAQueueForOneBlobByDefault) {
  Workspace ws;
  Create(&ws, "");
  Feed<float>(&ws, "x", {2}, {1, 2});
  RunOp(&ws, "type: 'EnqueueBlobs' input: 'q' input: 'x' output: 'x'");
  RunOp(&ws, "type: 'DequeueBlobs' input: 'q' output: 'y'");
  ExpectTensor<float>(ws, "y", {2}, {1, 2});
  EXPECT_EQ(DescribeGradient("type: 'CreateBlobsQueue' output: 'q'"), " | ");
}

TEST(CreateBlobsQueueTest, ReplacesAQueueUnlessItMayNot) {
  Workspace ws;
  Create(&ws, "arg { name: 'enforce_unique_name' i: 1 }");
  Create(&ws, "");
  ExpectThrows([&] { Create(&ws, "arg { name: 'enforce_unique_name' i: 1 }"); },
               "output 0 (queue) already holds a queue");
}

TEST(CreateBlobsQueueTest, RejectsInvalidArguments) {
  Workspace ws;
  ExpectThrows([&] { Create(&ws, "arg { name: 'capacity' i: -1 }"); },
               "argument \"capacity\" is -1, want at least 0");
  ExpectThrows([&] { Create(&ws, "arg { name: 'num_blobs' i: -1 }"); },
               "argument \"num_blobs\" is -1, want at least 0");
  ExpectThrows(
      [&] {
        Create(&ws, "arg { name: 'num_blobs' i: 2 } arg { name: 'field_names' strings: 'a' }");
      },
      "argument \"field_names\" has 1 names, want 2");
}

TEST(CreateBlobsQueueTest, AllocatesNothingForItsCapacity) {
  Workspace ws;
  Create(&ws, "arg { name: 'capacity' i: 2147483647 } arg { name: 'num_blobs' i: 2147483647 }");
}

// Such a queue is always full: a writer waits until it is closed.
TEST(CreateBlobsQueueTest, AcceptsAQueueWithoutRoomAndRecordsWithoutBlobs) {
  Workspace ws;
  Create(&ws, "arg { name: 'capacity' i: 0 }");
  RunOp(&ws, "type: 'CloseBlobsQueue' input: 'q'");
  Feed<float>(&ws, "x", {2}, {1, 2});
  RunOp(&ws, "type: 'SafeEnqueueBlobs' input: 'q' input: 'x' output: 'x' output: 'status'");
  ExpectTensor<bool>(ws, "status", {}, {true});
  ExpectTensor<float>(ws, "x", {2}, {1, 2});
  Create(&ws, "arg { name: 'num_blobs' i: 0 }");
  ExpectThrows([&] { RunOp(&ws, "type: 'DequeueBlobs' input: 'q' output: 'y'"); },
               "want as many as a record of the queue has blobs (got 1, want 0)");
}

TEST(CloseBlobsQueueTest, RejectsABlobWithoutQueue) {
  Workspace ws;
  Feed<float>(&ws, "q", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, "type: 'CloseBlobsQueue' input: 'q'"); }, "input 0");
}

TEST(CloseBlobsQueueTest, MayBeRunTwice) {
  Workspace ws;
  Create(&ws, "");
  RunOp(&ws, "type: 'CloseBlobsQueue' input: 'q'");
  RunOp(&ws, "type: 'CloseBlobsQueue' input: 'q'");
}

}  // namespace
}  // namespace caffe2rt::test::create_blobs_queue_test
