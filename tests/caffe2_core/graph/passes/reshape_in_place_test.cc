#include "caffe2_core/graph/passes/reshape_in_place.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::reshape_in_place_test {
namespace {

using ::testing::ElementsAre;

TEST(ReshapeInPlaceTest, LetsTheProducerWriteTheResult) {
  test::PassRun run;
  EXPECT_THAT(
      run(ReshapeInPlace, R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Reshape" input: "a" output: "b" output: "old" arg { name: "shape" ints: -1 } }
      op { type: "Tanh" input: "b" output: "c" }
      op { type: "ExpandDims" input: "c" output: "y" arg { name: "dims" ints: 0 } })"),
      ElementsAre("Relu(x) -> b", "Reshape(b) -> b old", "Tanh(b) -> y", "ExpandDims(y) -> y"));
}

TEST(ReshapeInPlaceTest, ChangesAnOperatorOnce) {
  test::PassRun run;
  EXPECT_THAT(run(ReshapeInPlace, R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "ExpandDims" input: "a" output: "b" arg { name: "dims" ints: 0 } }
      op { type: "ExpandDims" input: "b" output: "y" arg { name: "dims" ints: 0 } })"),
              ElementsAre("Relu(x) -> b", "ExpandDims(b) -> b", "ExpandDims(b) -> y"));
}

TEST(ReshapeInPlaceTest, LeavesOtherNetsAlone) {
  test::PassRun run;
  for (
      const char* text :
      {R"(op { type: "Relu" input: "x" output: "a" } op { type: "Flatten" input: "a" output: "y" })",
       R"(op { type: "MergeDim" input: "x" output: "y" })",
       R"(op { type: "Relu" input: "x" output: "a" } op { type: "MergeDim" input: "a" output: "b" }
              op { type: "Sum" input: "a" input: "b" output: "y" })",
       R"(op { type: "Relu" input: "y" output: "a" } op { type: "MergeDim" input: "a" output: "y" })",
       R"(op { type: "Relu" input: "x" output: "y" } op { type: "Relu" input: "x" output: "a" }
              op { type: "Tanh" input: "y" output: "b" } op { type: "MergeDim" input: "a" output: "y" })",
       R"(op { type: "Shape" input: "x" output: "a" }
              op { type: "Reshape" input: "a" input: "a" output: "y" output: "old" })"}) {
    EXPECT_EQ(run(ReshapeInPlace, text), test::LinesOf(test::ParseNet(text)));
  }
}

// ScatterAssign must write the blob that it reads.
TEST(ReshapeInPlaceTest, LeavesOperatorsThatMustWriteTheirInput) {
  test::PassRun run;
  const std::string end =
      R"(op { type: "Reshape" input: "a" output: "y" output: "old" arg { name: "shape" ints: -1 } })";
  const std::string begin = R"(op { type: "Relu" input: "x" output: "a" } )";
  EXPECT_EQ(run(ReshapeInPlace, begin + end).back(), "Reshape(y) -> y old");
  const std::string assign =
      R"(op { type: "ScatterAssign" input: "a" input: "i" input: "s" output: "a" } )";
  EXPECT_THAT(run(ReshapeInPlace, begin + assign + end),
              ElementsAre("Relu(x) -> a", "ScatterAssign(a i s) -> a", "Reshape(a) -> y old"));
  // The net, or something around it, reads the value, too.
  run.kept = {"y", "a"};
  EXPECT_EQ(run(ReshapeInPlace, begin + end).back(), "Reshape(a) -> y old");
  run.kept = {"y"};
  EXPECT_EQ(run(ReshapeInPlace, begin + end + R"(op { type: "Exp" input: "a" output: "b" })")[1],
            "Reshape(a) -> y old");
}

// The second output of an operator; the shape stays where it is.
TEST(ReshapeInPlaceTest, RenamesTheOutputThatItReads) {
  test::PassRun run;
  EXPECT_THAT(run(ReshapeInPlace, R"(
      op { type: "Split" input: "x" output: "a" output: "b" }
      op { type: "Reshape" input: "b" output: "y" output: "old" arg { name: "shape" ints: -1 } }
      op { type: "Relu" input: "a" output: "z" })"),
              ElementsAre("Split(x) -> a y", "Reshape(y) -> y old", "Relu(a) -> z"));
  EXPECT_THAT(run(ReshapeInPlace, R"(
      op { type: "Split" input: "x" output: "a" output: "b" output: "c" }
      op { type: "Reshape" input: "a" output: "y" output: "old" arg { name: "shape" ints: -1 } }
      op { type: "Sum" input: "b" input: "c" output: "z" })"),
              ElementsAre("Split(x) -> y b c", "Reshape(y) -> y old", "Sum(b c) -> z"));
  EXPECT_THAT(run(ReshapeInPlace, R"(
      op { type: "Shape" input: "x" output: "s" } op { type: "Relu" input: "x" output: "a" }
      op { type: "Reshape" input: "a" input: "s" output: "y" output: "old" })"),
              ElementsAre("Shape(x) -> s", "Relu(x) -> y", "Reshape(y s) -> y old"));
}

}  // namespace
}  // namespace caffe2rt::reshape_in_place_test
