#include <set>

#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::tensor_vector_test {
namespace {

class TensorVectorTest : public testing::Test {
 protected:
  TensorVectorTest() { RunOp(&ws_, "type: 'CreateTensorVector' output: 'v'"); }
  NetBase* CollectNet(int most) {
    ws_.CreateBlob("x");
    return ws_.CreateNet(
        ParseNet(MakeString("name: 'n' op { type: 'CollectTensor' input: 'v' input: "
                            "'x' output: 'v' arg { name: 'num_to_collect' i: ",
                            most, " } }")),
        /*overwrite=*/true);
  }
  void Concat() { RunOp(&ws_, "type: 'ConcatTensorVector' input: 'v' output: 'y'"); }
  Workspace ws_;
};

TEST_F(TensorVectorTest, CollectsAndJoinsTensors) {
  NetBase* const net = CollectNet(3);
  Feed<float>(&ws_, "x", {1, 2}, {1, 2});
  net->Run();
  Feed<float>(&ws_, "x", {0, 2}, {});
  net->Run();
  Feed<float>(&ws_, "x", {2, 2}, {3, 4, 5, 6});
  net->Run();
  RunOp(&ws_, "type: 'TensorVectorSize' input: 'v' output: 'n'");
  ExpectTensor<int32_t>(ws_, "n", {}, {3});
  ExpectShapeInferred(&ws_, "type: 'TensorVectorSize' input: 'v' output: 'n'");
  Concat();
  ExpectTensor<float>(ws_, "y", {3, 2}, {1, 2, 3, 4, 5, 6});
}

TEST_F(TensorVectorTest, KeepsTensorsAtRandomAfterItHasCollectedEnough) {
  ws_.SetRandomSeed(3);
  NetBase* const net = CollectNet(10);
  for (int i = 0; i < 200; ++i) {
    Feed<float>(&ws_, "x", {1}, {static_cast<float>(i)});
    net->Run();
  }
  Concat();
  const std::vector<float> kept = Fetch<float>(ws_, "y");
  EXPECT_EQ(std::set<float>(kept.begin(), kept.end()).size(), 10u);
  EXPECT_GE(*std::max_element(kept.begin(), kept.end()), 50);
  // Each is kept with the same probability: that none of the first 100 is, has one of 1/1000.
  EXPECT_LT(*std::min_element(kept.begin(), kept.end()), 100);
}

TEST_F(TensorVectorTest, JoinsOnlyTensorsOfOneTypeAndShape) {
  ExpectThrows([&] { Concat(); }, "input 0 (list of tensors) is empty");
  const auto rejects = [&](const char* part) {
    RunOp(&ws_, "type: 'CreateTensorVector' output: 'v'");
    NetBase* const net = CollectNet(2);
    Feed<float>(&ws_, "x", {1, 2}, {1, 2});
    net->Run();
    return [this, net, part] {
      net->Run();
      ExpectThrows([&] { Concat(); }, part);
    };
  };
  const auto rank = rejects("tensor 1 in input 0 is");
  Feed<float>(&ws_, "x", {1, 2, 1}, {1, 2});
  rank();
  const auto dims = rejects("tensor 1 in input 0 is");
  Feed<float>(&ws_, "x", {1, 1}, {1});
  dims();
  const auto type = rejects("tensor 1 in input 0 is");
  Feed<int64_t>(&ws_, "x", {1, 2}, {1, 2});
  type();
}

TEST_F(TensorVectorTest, RejectsInvalidUses) {
  ExpectThrows([&] { CollectNet(0); }, "argument \"num_to_collect\" is 0, want above 0");
  Feed<float>(&ws_, "x", {1}, {1});
  ExpectThrows([&] { RunOp(&ws_, "type: 'CollectTensor' input: 'v' input: 'x' output: 'v'"); },
               "num_to_collect");
  ExpectThrows(
      [&] { RunOp(&ws_, "type: 'CollectTensor' input: 'v' input: 'x' input: 'x' output: 'v'"); },
      "3 inputs and 1 output");
  ExpectThrows([&] { RunOp(&ws_, "type: 'TensorVectorSize' input: 'x' output: 'n'"); }, "input 0");
}

}  // namespace
}  // namespace caffe2rt::test::tensor_vector_test
