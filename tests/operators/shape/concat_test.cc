#include "caffe2_core/graph/gradient.h"
#include "tests/support/device_run.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::concat_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

TEST(ConcatTest, JoinsChannelsByDefault) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 1});
  FeedRange<float>(&ws, "B", {2, 2}, 10);
  for (const char* type : {"Concat", "DepthConcat"}) {
    const std::string op =
        std::string("type: \"") + type + R"(" input: "A" input: "B" output: "Y" output: "split")";
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 3}, {0, 10, 11, 1, 12, 13});
    ExpectTensor<int32_t>(ws, "split", {2}, {1, 2});
    ExpectShapeInferred(&ws, op);
  }
}

TEST(ConcatTest, ConcatenatesTheChannelsOfTheOrder) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {1, 1, 2, 1});
  FeedRange<float>(&ws, "B", {1, 1, 2, 2}, 10);
  const char* op = R"(type: "Concat" input: "A" input: "B" output: "Y" output: "split"
                      arg { name: "order" s: "NHWC" })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3}, {0, 10, 11, 1, 12, 13});
  ExpectShapeInferred(&ws, op);
}

TEST(ConcatTest, CountsNegativeAxesFromTheEnd) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {1, 2});
  FeedRange<float>(&ws, "B", {2, 2}, 10);
  RunOp(
      &ws,
      R"(type: "Concat" input: "A" input: "B" output: "Y" output: "split" arg { name: "axis" i: -2 })");
  ExpectTensor<float>(ws, "Y", {3, 2}, {0, 1, 10, 11, 12, 13});
}

TEST(ConcatTest, StacksAlongANewAxis) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2});
  FeedRange<float>(&ws, "B", {2}, 10);
  const char* op = R"(type: "Concat" input: "A" input: "B" output: "Y" output: "split"
                      arg { name: "axis" i: -1 } arg { name: "add_axis" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 10, 1, 11});
  ExpectTensor<int32_t>(ws, "split", {2}, {1, 1});
  ExpectShapeInferred(&ws, op);
}

TEST(ConcatTest, JoinsStringsAndEmptyTensors) {
  Workspace ws;
  Feed<std::string>(&ws, "A", {2, 1}, {"a", "b"});
  Feed<std::string>(&ws, "E", {2, 0}, {});
  Feed<std::string>(&ws, "B", {2, 1}, {"c", "d"});
  RunOp(&ws, R"(type: "Concat" input: "A" input: "E" input: "B" output: "Y" output: "split")");
  ExpectTensor<std::string>(ws, "Y", {2, 2}, {"a", "c", "b", "d"});
  ExpectTensor<int32_t>(ws, "split", {3}, {1, 0, 1});
}

TEST(ConcatTest, NamesTheInputThatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  FeedRange<float>(&ws, "B", {3, 3});
  FeedRange<int32_t>(&ws, "I", {2, 3});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "Concat" input: "A" input: "A" input: "B" output: "Y" output: "s")");
      },
      "input 2 has shape [3, 3], want [2, 3] as input 0 except for dim 1");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Concat" input: "A" input: "I" output: "Y" output: "s")"); },
      "input 1 has elements of type int32, want float as input 0");
}

TEST(ConcatTest, IgnoresTrailingDimensionsOfOneBeyondTheRankOfTheFirstInput) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 1});
  FeedRange<float>(&ws, "B", {2, 2, 1, 1}, 10);
  const std::string op = R"(type: "Concat" input: "A" input: "B" output: "Y" output: "split")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 3}, {0, 10, 11, 1, 12, 13});
  ExpectShapeInferred(&ws, op);
  FeedRange<float>(&ws, "B", {2, 2, 1, 2}, 10);
  ExpectThrows([&] { RunOp(&ws, op); }, "input 1 has shape [2, 2, 1, 2], want [2, 1] as input 0");
}

TEST(ConcatTest, StacksOnlyInputsOfTheSameShape) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 3}, {2, 4}, {2}, {2, 3, 2}}) {
    FeedRange<float>(&ws, "B", dims);
    for (const int axis : {0, 1, 2, -1}) {
      const std::string op =
          MakeString(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "s"
                        arg { name: "add_axis" i: 1 } arg { name: "axis" i: )",
                     axis, " }");
      ExpectThrows([&] { RunOp(&ws, op); },
                   MakeString("input 1 has shape ", IntArrayRef(dims), ", want [2, 3] as input 0"));
    }
  }
}

TEST(ConcatTest, RejectsInvalidAxesAndAxisTogetherWithOrder) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 3});
  const std::string head = R"(type: "Concat" input: "A" output: "Y" output: "s" )";
  for (const char* axis : {"2", "-3", "2147483647", "-2147483648"}) {
    EXPECT_THROW(RunOp(&ws, head + "arg { name: \"axis\" i: " + axis + "}"), EnforceNotMet);
  }
  ExpectThrows(
      [&] { RunOp(&ws, head + R"(arg { name: "axis" i: 0 } arg { name: "order" s: "NCHW" })"); },
      "axis and order are both given");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "order" s: "NHCW" })"); },
               "argument \"order\" is \"NHCW\", want NCHW or NHWC");
}

// The tensor in blob `name` uses `memory` at `offset` elements.
void Place(Workspace* ws, const char* name, std::vector<int64_t> dims, std::vector<float>* memory,
           size_t offset) {
  Tensor* const tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  tensor->ShareExternalPointer(memory->data() + offset, (memory->size() - offset) * sizeof(float));
}

TEST(ConcatTest, CopiesNoPartThatIsInPlace) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "the tensors are in host memory";
  Workspace ws;
  std::vector<float> memory = {1, 2, 3, 4, 5};
  Place(&ws, "A", {1, 2}, &memory, 0);
  Feed<float>(&ws, "B", {1, 1}, {30});
  Place(&ws, "C", {1, 2}, &memory, 3);
  Place(&ws, "Y", {1, 5}, &memory, 0);
  RunOp(&ws, R"(type: "Concat" input: "A" input: "B" input: "C" output: "Y" output: "s")");
  ExpectTensor<float>(ws, "Y", {1, 5}, {1, 2, 30, 4, 5});
  EXPECT_EQ(ws.GetBlob("Y")->Get<Tensor>().data<float>(), memory.data());
}

// A has its place in Y. B lies inside A, as a part of another Concat, and C is A again.
TEST(ConcatTest, CopiesPartsThatLieInsideAPartInPlace) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "the tensors are in host memory";
  Workspace ws;
  std::vector<float> memory = {1, 2, 3, 0, 0, 0, 0, 0};
  Place(&ws, "A", {1, 3}, &memory, 0);
  Place(&ws, "B", {1, 2}, &memory, 1);
  Place(&ws, "Y", {1, 8}, &memory, 0);
  RunOp(&ws, R"(type: "Concat" input: "A" input: "B" input: "A" output: "Y" output: "s")");
  ExpectTensor<float>(ws, "Y", {1, 8}, {1, 2, 3, 2, 3, 1, 2, 3});
  EXPECT_EQ(ws.GetBlob("Y")->Get<Tensor>().data<float>(), memory.data());
}

TEST(ConcatTest, KeepsPartsThatOverlapTheResultElsewhere) {
  if (test::TestDevice() != CPU) GTEST_SKIP() << "the tensors are in host memory";
  for (const int axis : {0, 1}) {
    Workspace ws;
    std::vector<float> memory = {1, 2, 3, 4, 5, 6, 7, 8};
    Place(&ws, "A", {2, 2}, &memory, 1);
    Place(&ws, "B", {2, 2}, &memory, 0);
    Place(&ws, "Y", {1, 8}, &memory, 0);
    RunOp(&ws, MakeString(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "s"
                             arg { name: "axis" i: )",
                          axis, " }"));
    if (axis == 0) {
      ExpectTensor<float>(ws, "Y", {4, 2}, {2, 3, 4, 5, 1, 2, 3, 4});
    } else {
      ExpectTensor<float>(ws, "Y", {2, 4}, {2, 3, 1, 2, 4, 5, 3, 4});
    }
    EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  }
}

TEST(ConcatTest, PassesEachInputItsPartOfTheGradient) {
  Workspace ws;
  test::FeedRandom(&ws, "A", {2, 1, 2});
  test::FeedRandom(&ws, "B", {2, 3, 2});
  ExpectGradientMatches(&ws, R"(type: "Concat" input: "A" input: "B" output: "Y" output: "s")");
  ExpectGradientMatches(&ws, R"(type: "DepthConcat" input: "A" input: "B" output: "Y" output: "s"
              arg { name: "axis" i: -2 })");
  test::FeedRandom(&ws, "B", {2, 1, 2});
  ExpectGradientMatches(&ws, R"(type: "Concat" input: "A" input: "B" output: "Y" output: "s"
                                arg { name: "axis" i: 1 } arg { name: "add_axis" i: 1 })");
}

TEST(ConcatTest, HasNoGradientWithoutThatOfTheResult) {
  const OperatorDef def =
      test::ParseOp(R"(type: "Concat" input: "A" input: "B" output: "Y" output: "s")");
  const GradientOpsMeta meta = GetGradientForOp(def, {{}, {.dense_ = "s_grad"}});
  EXPECT_TRUE(meta.ops_.empty());
  EXPECT_TRUE(meta.g_input_.at(0).IsEmpty());
}

// One row per input, several rows, and rows whose length is not a multiple of a word.
TEST(ConcatTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  const std::string axis = R"( output: "Y" output: "info" arg { name: "axis" i: 1 })";
  for (const int64_t batch : {1, 6}) {
    test::FeedRandom(&ws, "A", {batch, 40000});
    test::FeedRandom(&ws, "B", {batch, 30001}, -1, 1, 2);
    test::ExpectSameBitsForAllThreads(&ws, R"(type: "Concat" input: "A" input: "B")" + axis);
    test::ExpectSameBitsForAllThreads(
        &ws, R"(type: "Split" input: "Y" input: "info" output: "U" output: "V"
                arg { name: "axis" i: 1 })");
    ExpectTensor<float>(ws, "U", {batch, 40000}, test::Fetch<float>(ws, "A"));
    ExpectTensor<float>(ws, "V", {batch, 30001}, test::Fetch<float>(ws, "B"));
  }
  std::vector<uint8_t> bytes(200003);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  Feed<uint8_t>(&ws, "A", {1, 200003}, bytes);
  Feed<uint8_t>(&ws, "B", {1, 2}, {1, 2});
  test::ExpectSameBitsForAllThreads(&ws, R"(type: "Concat" input: "A" input: "B")" + axis);
  bytes.insert(bytes.end(), {1, 2});
  ExpectTensor<uint8_t>(ws, "Y", {1, 200005}, bytes);
}

}  // namespace
}  // namespace caffe2rt::concat_test
