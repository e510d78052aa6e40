#include <thread>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::atomic_append_test {
namespace {

constexpr char kOp[] =
    "type: 'AtomicAppend' input: 'mutex' input: 'x' input: 'y' input: 'x1' input: 'y1' output: 'x' "
    "output: 'y'";

class AtomicAppendTest : public testing::Test {
 protected:
  AtomicAppendTest() {
    RunOp(&ws_, "type: 'CreateMutex' output: 'mutex'");
    FeedRange<float>(&ws_, "x", {2, 2});
    Feed<std::string>(&ws_, "y", {1}, {"a"});
    Feed<float>(&ws_, "x1", {1, 2}, {4, 5});
    Feed<std::string>(&ws_, "y1", {2}, {"b", "c"});
  }
  Workspace ws_;
};

TEST_F(AtomicAppendTest, AppendsRows) {
  RunOp(&ws_, kOp);
  ExpectTensor<float>(ws_, "x", {3, 2}, {0, 1, 2, 3, 4, 5});
  ExpectTensor<std::string>(ws_, "y", {3}, {"a", "b", "c"});
  RunOp(&ws_, kOp);
  ExpectTensor<float>(ws_, "x", {4, 2}, {0, 1, 2, 3, 4, 5, 4, 5});
  ExpectTensor<std::string>(ws_, "y", {5}, {"a", "b", "c", "b", "c"});
}

TEST_F(AtomicAppendTest, CopiesToATensorWithoutElements) {
  Feed<int64_t>(&ws_, "x", {0}, {});
  Feed<std::string>(&ws_, "y1", {0}, {});
  RunOp(&ws_, kOp);
  ExpectTensor<float>(ws_, "x", {1, 2}, {4, 5});
  ExpectTensor<std::string>(ws_, "y", {1}, {"a"});
}

// Recorded from Caffe2.
TEST_F(AtomicAppendTest, CountsRowsWithoutElements) {
  Feed<float>(&ws_, "x", {2, 0}, {});
  Feed<float>(&ws_, "x1", {3, 0}, {});
  RunOp(&ws_, kOp);
  ExpectTensor<float>(ws_, "x", {5, 0}, {});
  Feed<float>(&ws_, "x1", {1, 2}, {4, 5});
  ExpectThrows([&] { RunOp(&ws_, kOp); },
               "input 3 has shape [1, 2], want that of input 1, [5, 0], except in dimension 0");
  Feed<float>(&ws_, "x", {0, 3}, {});
  RunOp(&ws_, kOp);
  ExpectTensor<float>(ws_, "x", {1, 2}, {4, 5});
}

TEST_F(AtomicAppendTest, ChangesNothingUnlessAllTensorsFit) {
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunOp(&ws_, kOp); }, part);
    ExpectTensor<float>(ws_, "x", {2, 2}, {0, 1, 2, 3});
  };
  Feed<int32_t>(&ws_, "y1", {1}, {1});
  rejects("input 4 is");
  Feed<std::string>(&ws_, "y1", {1, 1}, {"b"});
  rejects("input 4 has shape [1, 1], want that of input 2, [1], except in dimension 0");
  Feed<std::string>(&ws_, "y1", {}, {"b"});
  rejects("dimensions of input 4");
}

TEST_F(AtomicAppendTest, RejectsOtherNumbersAndPlacesOfBlobs) {
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'AtomicAppend' input: 'mutex' input: 'x' input: 'x1' output: 'x' output: "
              "'z'");
      },
      "the operator has 3 inputs and 2 outputs");
  ExpectThrows(
      [&] {
        RunOp(&ws_, "type: 'AtomicAppend' input: 'mutex' input: 'x' input: 'x1' output: 'z'");
      },
      "input 1 and output 0 are different blobs");
  Feed<float>(&ws_, "mutex", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, kOp); }, "input 0");
}

TEST_F(AtomicAppendTest, LosesNothingBetweenThreads) {
  Feed<float>(&ws_, "sum", {0}, {});
  Feed<float>(&ws_, "one", {1}, {1});
  for (int t = 0; t < 2; ++t) {
    ws_.CreateNet(ParseNet(MakeString("name: 'n", t,
                                      "' op { type: 'AtomicAppend' input: 'mutex' "
                                      "input: 'sum' input: 'one' output: 'sum' }")));
  }
  const auto run = [](NetBase* net) {
    for (int i = 0; i < 300; ++i) net->Run();
  };
  std::thread thread(run, ws_.GetNet("n0"));
  run(ws_.GetNet("n1"));
  thread.join();
  ExpectTensor<float>(ws_, "sum", {600}, std::vector<float>(600, 1));
}

}  // namespace
}  // namespace caffe2rt::test::atomic_append_test
