#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::squeeze_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(SqueezeTest, RemovesEachNamedDimensionOnce) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 3, 1});
  const char* op =
      R"(type: "Squeeze" input: "X" output: "Y" arg { name: "dims" ints: 2 ints: 0 ints: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3}, {0, 1, 2});
  ExpectShapeInferred(&ws, op);
}

TEST(SqueezeTest, MakesAScalarAndWorksInPlaceAndOnEmptyTensors) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1}, 5);
  RunOp(&ws, R"(type: "Squeeze" input: "X" output: "X" arg { name: "dims" ints: 0 })");
  ExpectTensor<float>(ws, "X", {}, {5});
  FeedRange<float>(&ws, "E", {1, 0});
  RunOp(&ws, R"(type: "Squeeze" input: "E" output: "Y" arg { name: "dims" ints: 0 })");
  ExpectTensor<float>(ws, "Y", {0}, {});
}

TEST(SqueezeTest, ReportsWhichDimensionIsNotOne) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 3});
  const auto run = [&](const std::string& dims) {
    RunOp(&ws, R"(type: "Squeeze" input: "X" output: "Y" arg { name: "dims" )" + dims + "}");
  };
  ExpectThrows([&] { run("ints: 1"); },
               "dim 1 of input 0 of shape [1, 3] is in argument dims, want size 1");
  ExpectThrows([&] { run("ints: 2"); }, "want more than the largest of argument dims");
  ExpectThrows([&] { run("ints: -1"); },
               "argument \"dims\" is [-1], want at least one dimension, none negative");
  ExpectThrows([&] { run(""); },
               "argument \"dims\" is [], want at least one dimension, none negative");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Squeeze" input: "X" output: "Y")"); },
               "argument \"dims\" is required but missing");
}

TEST(SqueezeTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {1, 2, 1, 3});
  ExpectGradientMatches(
      &ws, R"(type: "Squeeze" input: "X" output: "Y" arg { name: "dims" ints: 0 ints: 2 })");
}

}  // namespace
}  // namespace caffe2rt::squeeze_test
