#include "tests/support/operator_test.h"

namespace caffe2rt::uniform_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

// The first values that the last version of Caffe2 generates for these seeds.
TEST(UniformFillTest, RepeatsCaffe2sSequenceOfASeed) {
  Workspace ws;
  const char* op = R"(type: "UniformFill" output: "Y" arg { name: "shape" ints: 4 }
                      device_option { random_seed: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {4}, {0.7576316f, 0.27931088f, 0.40306926f, 0.73468447f}, 1e-7);
  ExpectShapeInferred(&ws, op);
  RunOp(&ws,
        R"(type: "UniformFill" output: "Y" arg { name: "shape" ints: 3 } arg { name: "min" f: -2 }
                arg { name: "max" f: 3 } device_option { random_seed: 7 })");
  ExpectTensor<float>(ws, "Y", {3}, {0.67461276f, -1.0059841f, 1.2960584f}, 1e-6);
}

TEST(UniformIntFillTest, DrawsFromBothEndsAndBetween) {
  Workspace ws;
  const char* op = R"(type: "UniformIntFill" output: "Y" arg { name: "shape" ints: 6 }
                      arg { name: "min" i: -3 } arg { name: "max" i: 4 } device_option { random_seed: 1 })";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {6}, {2, 0, 1, -3, 4, -2});
  ExpectShapeInferred(&ws, op);
}

TEST(UniformIntFillTest, CoversTheWholeRangeOfInt32) {
  Workspace ws;
  RunOp(&ws, R"(type: "UniformIntFill" output: "Y" arg { name: "shape" ints: 2 }
                arg { name: "min" i: -2147483648 } arg { name: "max" i: 2147483647 }
                device_option { random_seed: 1 })");
  ExpectTensor<int32_t>(ws, "Y", {2}, {-356387803, 2135392491});
}

TEST(UniformFillTest, ReadsBoundsFromInputs) {
  Workspace ws;
  Feed<int64_t>(&ws, "S", {2}, {2, 3});
  Feed<float>(&ws, "L", {1}, {5});
  Feed<float>(&ws, "H", {1}, {5});
  RunOp(&ws, R"(type: "UniformFill" input: "S" input: "L" input: "H" output: "Y"
                arg { name: "input_as_shape" i: 1 })");
  ExpectTensor<float>(ws, "Y", {2, 3}, {5, 5, 5, 5, 5, 5});
}

TEST(UniformFillTest, MakesNoElementsWhenTheInputsBoundsAreReversed) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {0, 0, 0, 0, 0, 0});
  Feed<float>(&ws, "L", {1}, {5});
  Feed<float>(&ws, "H", {}, {1});
  RunOp(&ws, R"(type: "UniformFill" input: "X" input: "L" input: "H" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(UniformFillTest, RejectsEmptyRanges) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, R"(type: "UniformFill" output: "Y" arg { name: "min" f: 1 })"); },
               "argument min, want less than argument max");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "UniformIntFill" output: "Y" arg { name: "min" i: 1 })"); },
      "argument min, want less than argument max");
}

TEST(UniformFillTest, RejectsRepeatedOrVectorBounds) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  Feed<float>(&ws, "L", {2}, {5, 6});
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "UniformFill" input: "X" input: "X" input: "X" output: "Y" arg { name: "min" f: 0 })");
      },
      "input 1 gives it too");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "UniformFill" input: "X" input: "L" input: "X" output: "Y")"); },
      "elements of input 1 (min or max), want one");
}

}  // namespace
}  // namespace caffe2rt::uniform_fill_test
