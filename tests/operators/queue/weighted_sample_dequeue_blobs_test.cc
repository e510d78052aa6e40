#include "tests/support/operator_test.h"

namespace caffe2rt::test::weighted_sample_dequeue_blobs_test {
namespace {

constexpr char kOp[] =
    "type: 'WeightedSampleDequeueBlobs' input: 'q0' input: 'q1' output: 'y' output: 'z' output: "
    "'status' ";

class WeightedSampleDequeueBlobsTest : public testing::Test {
 protected:
  WeightedSampleDequeueBlobsTest() {
    for (const char* queue : {"q0", "q1"}) {
      RunOp(&ws_, MakeString("type: 'CreateBlobsQueue' output: '", queue,
                             "' arg { name: 'capacity' i: 50 } arg { name: 'num_blobs' i: 2 }"));
    }
  }
  void Enqueue(int queue) {
    Feed<float>(&ws_, "a", {1}, {static_cast<float>(queue)});
    Feed<float>(&ws_, "b", {1}, {10});
    ws_.RunOperatorOnce(ParseOp(MakeString("type: 'EnqueueBlobs' input: 'q", queue,
                                           "' input: 'a' input: 'b' output: 'a' output: 'b'")));
  }
  void Run(const std::string& arguments) { RunOp(&ws_, kOp + arguments); }
  Workspace ws_;
};

TEST_F(WeightedSampleDequeueBlobsTest, NeverChoosesAQueueOfWeight0) {
  for (int i = 0; i < 20; ++i) {
    Enqueue(1);
    Run("arg { name: 'weights' floats: 0 floats: 2 }");
    ExpectTensor<float>(ws_, "y", {1}, {1});
    ExpectTensor<float>(ws_, "z", {1}, {10});
    ExpectTensor<bool>(ws_, "status", {}, {false});
  }
}

TEST_F(WeightedSampleDequeueBlobsTest, ChoosesByWeight) {
  int chosen[2] = {0, 0};
  for (int i = 0; i < 40; ++i) {
    Enqueue(0);
    Enqueue(1);
  }
  for (int seed = 1; seed <= 40; ++seed) {
    Run(MakeString("device_option { random_seed: ", seed, " }"));
    ++chosen[static_cast<int>(Fetch<float>(ws_, "y")[0])];
  }
  EXPECT_GT(chosen[0], 5);
  EXPECT_GT(chosen[1], 5);
}

TEST_F(WeightedSampleDequeueBlobsTest, ReplacesABlobByTheIndexOfTheQueue) {
  Enqueue(1);
  Run("arg { name: 'weights' floats: 0 floats: 2 } arg { name: 'table_idx_blob' i: 0 }");
  ExpectTensor<int32_t>(ws_, "y", {1}, {1});
  ExpectTensor<float>(ws_, "z", {1}, {10});
  Enqueue(0);
  Run("arg { name: 'weights' floats: 2 floats: 0 } arg { name: 'table_idx_blob' i: 1 }");
  ExpectTensor<float>(ws_, "y", {1}, {0});
  ExpectTensor<int32_t>(ws_, "z", {1}, {0});
}

TEST_F(WeightedSampleDequeueBlobsTest, ReturnsInTheStatusThatTheQueueIsClosed) {
  RunOp(&ws_, "type: 'CloseBlobsQueue' input: 'q1'");
  Run("arg { name: 'weights' floats: 0 floats: 2 } arg { name: 'table_idx_blob' i: 0 }");
  ExpectTensor<bool>(ws_, "status", {}, {true});
  ExpectTensor<int32_t>(ws_, "y", {1}, {1});
}

TEST_F(WeightedSampleDequeueBlobsTest, RejectsInvalidArguments) {
  ExpectThrows([&] { Run("arg { name: 'weights' floats: 1 }"); }, "weights, one for each input");
  ExpectThrows([&] { Run("arg { name: 'weights' floats: -1 floats: 2 }"); },
               "argument \"weights\" contains -1, want at least 0");
  ExpectThrows([&] { Run("arg { name: 'weights' floats: nan floats: 2 }"); }, "want at least 0");
  ExpectThrows([&] { Run("arg { name: 'weights' floats: 0 floats: 0 }"); }, "want above 0");
  ExpectThrows([&] { Run("arg { name: 'table_idx_blob' i: 2 }"); },
               "want an output before the status");
}

}  // namespace
}  // namespace caffe2rt::test::weighted_sample_dequeue_blobs_test
