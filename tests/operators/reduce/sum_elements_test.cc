#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::sum_elements_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& type, bool average = false) {
  return "type: \"" + type + R"(" input: "X" output: "Y")" +
         (average ? " arg { name: \"average\" i: 1 }" : "");
}

TEST(SumElementsTest, AddsAllElements) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {10, 10}, 1);
  RunOp(&ws, Op("SumElements"));
  ExpectTensor<float>(ws, "Y", {}, {5050});
  ExpectShapeInferred(&ws, Op("SumElements"));
  RunOp(&ws, Op("SumElements", true));
  ExpectTensor<float>(ws, "Y", {}, {50.5f});
  Feed<float>(&ws, "X", {}, {3});
  RunOp(&ws, Op("SumElements"));
  ExpectTensor<float>(ws, "Y", {}, {3});
}

TEST(SumElementsIntTest, WrapsAround) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {3}, {std::numeric_limits<int32_t>::max(), 1, 5});
  RunOp(&ws, Op("SumElementsInt"));
  ExpectTensor<int32_t>(ws, "Y", {}, {std::numeric_limits<int32_t>::min() + 5});
  ExpectShapeInferred(&ws, Op("SumElementsInt"));
}

TEST(SumSqrElementsTest, AddsSquaresOfFloatsAndDoubles) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {3, -4});
  RunOp(&ws, Op("SumSqrElements"));
  ExpectTensor<float>(ws, "Y", {}, {25});
  RunOp(&ws, Op("SumSqrElements", true));
  ExpectTensor<float>(ws, "Y", {}, {12.5f});
  Feed<double>(&ws, "X", {1}, {3});
  RunOp(&ws, Op("SumSqrElements"));
  ExpectTensor<double>(ws, "Y", {}, {9});
  ExpectShapeInferred(&ws, Op("SumSqrElements"));
}

TEST(SumElementsTest, GivesZeroForNoElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  for (const char* type : {"SumElements", "SumSqrElements"}) {
    for (const bool average : {false, true}) {
      RunOp(&ws, Op(type, average));
      ExpectTensor<float>(ws, "Y", {}, {0});
    }
  }
}

TEST(SumElementsTest, RejectsOtherTypesAndInPlaceOutputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "SumElements" input: "X" output: "X")"); }, "in place");
  ExpectThrows([&] { RunOp(&ws, Op("SumElementsInt")); },
               "input 0 (X) has elements of type float, want int32");
  FeedRange<int32_t>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, Op("SumElements")); },
               "input 0 (X) has elements of type int32, want float");
}

TEST(SumElementsGradientTest, GivesEveryElementTheSame) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  Feed<float>(&ws, "dY", {}, {6});
  const std::string op = R"(type: "SumElementsGradient" input: "X" input: "dY" output: "dX")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2}, {6, 6, 6, 6});
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, op + R"( arg { name: "average" i: 1 })");
  ExpectTensor<float>(ws, "dX", {2, 2}, {1.5f, 1.5f, 1.5f, 1.5f});
  FeedRange<int32_t>(&ws, "X", {0});  // only the shape counts
  RunOp(&ws, op + R"( arg { name: "average" i: 1 })");
  ExpectTensor<float>(ws, "dX", {0}, {});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "dY", {2}, {6, 6});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (dY) of shape [2]");
}

TEST(SumElementsGradientTest, IsTheDerivative) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3});
  test::ExpectGradientMatches(&ws, Op("SumElements"));
  test::ExpectGradientMatches(&ws, Op("SumElements", true));
}

}  // namespace
}  // namespace caffe2rt::sum_elements_test
