#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::reshape_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

struct Case {
  std::vector<int64_t> input;
  std::string shape;
  std::vector<int64_t> want;
};

class ReshapeShapeTest : public testing::TestWithParam<Case> {};

TEST_P(ReshapeShapeTest, ReturnsTheRequestedShapeAndTheOldOne) {
  Workspace ws;
  FeedRange<float>(&ws, "X", GetParam().input);
  const std::string op =
      R"(type: "Reshape" input: "X" output: "Y" output: "old" arg { name: "shape" )" +
      GetParam().shape + "}";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", GetParam().want, Fetch<float>(ws, "X"));
  ExpectTensor<int64_t>(ws, "old", {static_cast<int64_t>(GetParam().input.size())},
                        GetParam().input);
  ExpectShapeInferred(&ws, op);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReshapeShapeTest,
                         testing::Values(Case{{2, 3, 4}, "ints: 24", {24}},
                                         Case{{2, 3, 4}, "ints: -1 ints: 6", {4, 6}},
                                         Case{{2, 3, 4}, "ints: 0 ints: -1", {2, 12}},
                                         Case{{2, 3, 4}, "ints: 1 ints: -1 ints: 0", {1, 6, 4}},
                                         Case{{1}, "", {}}, Case{{}, "ints: 1 ints: 1", {1, 1}},
                                         Case{{0, 3}, "ints: -1", {0}},
                                         Case{{0, 3}, "ints: 0 ints: -1", {0, 0}},
                                         Case{{0, 3}, "ints: 3 ints: 0", {3, 0}},
                                         Case{{2, 0}, "ints: -1 ints: 2 ints: 0", {0, 2, 0}}));

class ReshapeErrorTest : public testing::TestWithParam<std::string> {};

TEST_P(ReshapeErrorTest, RejectsIncompatibleShapes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4});
  EXPECT_THROW(
      RunOp(&ws, R"(type: "Reshape" input: "X" output: "Y" output: "old" arg { name: "shape" )" +
                     GetParam() + "}"),
      EnforceNotMet);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReshapeErrorTest,
                         testing::Values("ints: 5 ints: 5", "ints: -1 ints: 7",
                                         "ints: -2 ints: -12", "ints: 2 ints: 3 ints: 4 ints: 0",
                                         "ints: -1 ints: 0 ints: 0 ints: 0", "ints: 0", "",
                                         "ints: 4611686018427387904 ints: 4611686018427387904"));

TEST(ReshapeTest, ReportsWhyAShapeIsIncompatible) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const std::string head = R"(type: "Reshape" input: "X" output: "Y" output: "old" )";
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "shape" ints: -1 ints: -1 })"); },
               "more than one -1");
  ExpectThrows([&] { RunOp(&ws, head + R"(arg { name: "shape" ints: 5 })"); },
               "elements of shape [5], want those of input 0 of shape [2, 3]");
  ExpectThrows([&] { RunOp(&ws, head); }, "argument shape is missing");
}

TEST(ReshapeTest, ReadsTheShapeFromAnInputOfItsType) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "S", {2}, {0, -1});
  const char* op = R"(type: "Reshape" input: "X" input: "S" output: "Y" output: "old")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 3}, {0, 1, 2, 3, 4, 5});
  ExpectTensor<int32_t>(ws, "old", {2}, {2, 3});
  ExpectShapeInferred(&ws, op, true);
  Feed<int64_t>(&ws, "S", {1}, {6});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "old", {2}, {2, 3});
}

TEST(ReshapeTest, RejectsInvalidShapeInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1});
  Feed<int64_t>(&ws, "matrix", {1, 1}, {1});
  Feed<int64_t>(&ws, "empty", {0}, {});
  const auto run = [&](const std::string& shape, const std::string& rest = "") {
    RunOp(&ws,
          R"(type: "Reshape" input: "X" output: "Y" output: "old" input: ")" + shape + "\"" + rest);
  };
  ExpectThrows([&] { run("matrix"); }, "rank of input 1 (shape), want a vector");
  ExpectThrows([&] { run("empty"); }, "want at least one");
  ExpectThrows([&] { run("X"); }, "input 1 (shape) has elements of type float");
  ExpectThrows([&] { run("empty", R"(arg { name: "shape" ints: 1 })"); }, "remove one");
}

TEST(ReshapeTest, RunsInPlaceAndOnStrings) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  RunOp(
      &ws,
      R"(type: "Reshape" input: "X" output: "X" output: "old" arg { name: "shape" ints: 2 ints: 1 })");
  ExpectTensor<std::string>(ws, "X", {2, 1}, {"a", "b"});
  RunOp(&ws,
        R"(type: "Reshape" input: "X" output: "Y" output: "old" arg { name: "shape" ints: 2 })");
  ExpectTensor<std::string>(ws, "Y", {2}, {"a", "b"});
}

// Before it runs, too.
TEST(ReshapeTest, InferenceRejectsAShapeThatIsGivenTwice) {
  EnsureBuiltinOperators();
  const OperatorDef def = test::ParseOp(
      R"(type: "Reshape" input: "X" input: "S" output: "Y" output: "old" arg { name: "shape" ints: 6 })");
  const std::vector<TensorShape> in = {
      CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT),
      CreateTensorShape(std::vector<int64_t>{1}, TensorProto::INT64)};
  ExpectThrows([&] { (void)OpSchemaRegistry::Schema("Reshape")->InferTensor(def, in); },
               "argument shape and input 1 are both given");
}

TEST(ReshapeTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 6});
  ExpectGradientMatches(
      &ws,
      R"(type: "Reshape" input: "X" output: "Y" output: "old" arg { name: "shape" ints: 3 ints: -1 })");
}

}  // namespace
}  // namespace caffe2rt::reshape_test
