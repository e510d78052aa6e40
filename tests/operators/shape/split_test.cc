#include "caffe2_core/graph/gradient.h"
#include "tests/support/device_run.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::split_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

TEST(SplitTest, CutsChannelsIntoEqualPiecesByDefault) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 4});
  for (const char* type : {"Split", "DepthSplit"}) {
    const std::string op =
        std::string("type: \"") + type + R"(" input: "X" output: "A" output: "B")";
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "A", {2, 2}, {0, 1, 4, 5});
    ExpectTensor<float>(ws, "B", {2, 2}, {2, 3, 6, 7});
    ExpectShapeInferred(&ws, op);
  }
}

TEST(SplitTest, CutsTheSizesOfTheArgument) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const char* op = R"(type: "Split" input: "X" output: "A" output: "B" output: "C"
                      arg { name: "split" ints: 1 ints: 0 ints: 2 } arg { name: "axis" i: -1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "A", {2, 1}, {0, 3});
  ExpectTensor<float>(ws, "B", {2, 0}, {});
  ExpectTensor<float>(ws, "C", {2, 2}, {1, 2, 4, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(SplitTest, CutsTheSizesOfTheSecondInput) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3});
  Feed<int32_t>(&ws, "S", {2}, {1, 2});
  const char* op =
      R"(type: "Split" input: "X" input: "S" output: "A" output: "B" arg { name: "axis" i: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "A", {1}, {0});
  ExpectTensor<float>(ws, "B", {2}, {1, 2});
  ExpectShapeInferred(&ws, op, true);
}

TEST(SplitTest, DropsTheAxisWithAddAxis) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  const char* op = R"(type: "Split" input: "X" output: "A" output: "B" arg { name: "axis" i: 1 }
                      arg { name: "add_axis" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "A", {2}, {0, 2});
  ExpectTensor<float>(ws, "B", {2}, {1, 3});
  ExpectShapeInferred(&ws, op);
}

TEST(SplitTest, CutsStringsAndEmptyTensors) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {1, 2}, {"a", "b"});
  RunOp(&ws, R"(type: "Split" input: "X" output: "A" output: "B")");
  ExpectTensor<std::string>(ws, "B", {1, 1}, {"b"});
  FeedRange<float>(&ws, "E", {0, 4});
  RunOp(&ws, R"(type: "Split" input: "E" output: "A" output: "B")");
  ExpectTensor<float>(ws, "A", {0, 2}, {});
}

TEST(SplitTest, ReportsWhySizesAreInvalid) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 5});
  Feed<int32_t>(&ws, "S", {2}, {2, 3});
  const std::string head = R"(type: "Split" input: "X" output: "A" output: "B" )";
  ExpectThrows([&] { RunOp(&ws, head); },
               "dimension of size 5 cannot be divided into 2 equal outputs");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "split" ints: 2 ints: 2 })"); },
               "sum of the sizes in split, want the size of the dimension");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "split" ints: 5 })"); },
               "split has 1 sizes, want one for each of the 2 outputs");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "split" ints: -1 ints: 6 })"); },
               "want at least 0");
  ExpectThrows([&] { RunOp(&ws, head + R"(input: "S" arg { name: "split" ints: 2 ints: 3 })"); },
               "remove one");
  ExpectThrows(
      [&] { RunOp(&ws, head + R"(arg { name: "axis" i: 1 } arg { name: "add_axis" i: 1 })"); },
      "want the number of outputs");
  EXPECT_THROW(RunOp(&ws, head + R"(arg { name: "axis" i: 2 })"), EnforceNotMet);
}

TEST(SplitTest, JoinsTheGradientsOfThePieces) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 4, 3});
  ExpectGradientMatches(&ws, R"(type: "Split" input: "X" output: "A" output: "B")");
  ExpectGradientMatches(&ws, R"(type: "DepthSplit" input: "X" output: "A" output: "B"
                                arg { name: "axis" i: -1 } arg { name: "split" ints: 1 ints: 2 })");
  ExpectGradientMatches(&ws, R"(type: "Split" input: "X" output: "A" output: "B"
                                arg { name: "axis" i: 0 } arg { name: "add_axis" i: 1 })");
}

// The tensor in blob `name` uses `memory` at `offset` elements.
void Place(Workspace* ws, const char* name, std::vector<int64_t> dims, std::vector<float>* memory,
           size_t offset) {
  Tensor* const tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  tensor->ShareExternalPointer(memory->data() + offset, (memory->size() - offset) * sizeof(float));
}

TEST(SplitTest, CopiesNoPieceThatIsInPlace) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "the tensors are in host memory";
  Workspace ws;
  std::vector<float> memory = {1, 2, 3, 4};
  Place(&ws, "X", {1, 4}, &memory, 0);
  Place(&ws, "B", {1, 2}, &memory, 2);
  RunOp(&ws, R"(type: "Split" input: "X" output: "A" output: "B")");
  ExpectTensor<float>(ws, "A", {1, 2}, {1, 2});
  ExpectTensor<float>(ws, "B", {1, 2}, {3, 4});
  EXPECT_EQ(ws.GetBlob("B")->Get<Tensor>().data<float>(), memory.data() + 2);
}

TEST(SplitTest, KeepsAnInputThatPiecesOverlapElsewhere) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "the tensors are in host memory";
  Workspace ws;
  std::vector<float> memory = {1, 2, 3, 4};
  Place(&ws, "X", {2, 2}, &memory, 0);
  Place(&ws, "A", {2, 1}, &memory, 0);
  Place(&ws, "B", {2, 1}, &memory, 1);
  RunOp(&ws, R"(type: "Split" input: "X" output: "A" output: "B")");
  ExpectTensor<float>(ws, "A", {2, 1}, {1, 3});
  ExpectTensor<float>(ws, "B", {2, 1}, {2, 4});
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4}));
}

// Recorded from the original.
TEST(SplitTest, LeavesOutGradientsThatAreMissing) {
  const OperatorDef def =
      test::ParseOp(R"(type: "Split" input: "X" output: "A" output: "B" output: "C")");
  const GradientOpsMeta meta = GetGradientForOp(def, {{}, {.dense_ = "b"}, {.dense_ = "c"}});
  ASSERT_EQ(meta.ops_.size(), 1u);
  EXPECT_EQ(meta.ops_[0].type(), "Concat");
  EXPECT_THAT(meta.ops_[0].input(), testing::ElementsAre("b", "c"));
  EXPECT_THAT(meta.ops_[0].output(), testing::ElementsAre("X_grad", "_X_grad_dims"));
  EXPECT_TRUE(GetGradientForOp(def, {{}, {}, {}}).ops_.empty());
}

}  // namespace
}  // namespace caffe2rt::split_test
