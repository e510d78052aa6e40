#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::reduce_front_back_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Op(const std::string& type, int dims = 1, bool lengths = false) {
  return "type: \"" + type + R"(" input: "X" )" + (lengths ? "input: \"L\" " : "") +
         R"(output: "Y" arg { name: "num_reduce_dim" i: )" + std::to_string(dims) + " }";
}

// X is 1 2 3 4 / 5 6 7 8 / 9 10 11 12.
TEST(ReduceFrontBackTest, RunsOverTheFirstOrLastDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2, 2}, 1);
  const auto expect = [&](const char* type, int dims, const std::vector<int64_t>& shape,
                          const std::vector<float>& want) {
    RunOp(&ws, Op(type, dims));
    ExpectTensor<float>(ws, "Y", shape, want, 1e-6);
    ExpectShapeInferred(&ws, Op(type, dims));
  };
  expect("ReduceFrontSum", 1, {2, 2}, {15, 18, 21, 24});
  expect("ReduceFrontMean", 1, {2, 2}, {5, 6, 7, 8});
  expect("ReduceFrontMax", 1, {2, 2}, {9, 10, 11, 12});
  expect("ReduceFrontSum", 2, {2}, {36, 42});
  expect("ReduceBackSum", 1, {3, 2}, {3, 7, 11, 15, 19, 23});
  expect("ReduceBackMean", 2, {3}, {2.5f, 6.5f, 10.5f});
  expect("ReduceBackMax", 2, {3}, {4, 8, 12});
  expect("ReduceFrontMax", 3, {}, {12});
  expect("ReduceBackMean", 3, {}, {6.5f});
  expect("ReduceBackSum", 0, {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  expect("ReduceFrontMean", 0, {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}

// Recorded from the original: the first element always counts, and a mean is divided by the length
// even if it is 0 or negative.
TEST(ReduceFrontBackTest, ReducesAsManyElementsAsTheLengthsState) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 4}, 1);
  Feed<int32_t>(&ws, "L", {4}, {1, 2, 3, 0});
  RunOp(&ws, Op("ReduceFrontSum", 1, true));
  ExpectTensor<float>(ws, "Y", {4}, {1, 8, 21, 4});
  RunOp(&ws, Op("ReduceFrontMean", 1, true));
  ExpectTensor<float>(ws, "Y", {4}, {1, 4, 7, std::numeric_limits<float>::infinity()});
  RunOp(&ws, Op("ReduceFrontMax", 1, true));
  ExpectTensor<float>(ws, "Y", {4}, {1, 6, 11, 4});
  ExpectShapeInferred(&ws, Op("ReduceFrontMax", 1, true));
  Feed<int32_t>(&ws, "L", {3}, {1, 2, -3});
  RunOp(&ws, Op("ReduceBackSum", 1, true));
  ExpectTensor<float>(ws, "Y", {3}, {1, 11, 9});
  RunOp(&ws, Op("ReduceBackMean", 1, true));
  ExpectTensor<float>(ws, "Y", {3}, {1, 5.5f, -3});
  RunOp(&ws, Op("ReduceBackMax", 1, true));
  ExpectTensor<float>(ws, "Y", {3}, {1, 6, 9});
}

TEST(ReduceFrontBackTest, TruncatesMeansOfIntegers) {
  Workspace ws;
  FeedRange<int64_t>(&ws, "X", {3, 4}, -1, -1);
  RunOp(&ws, Op("ReduceBackMean"));
  ExpectTensor<int64_t>(ws, "Y", {3}, {-2, -6, -10});
}

TEST(ReduceFrontBackTest, ReducesOneDimensionByDefault) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 1}, {1, 2, 3, 4});
  const char* op = R"(type: "ReduceFrontSum" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {4, 6});
  ExpectShapeInferred(&ws, op);
}

TEST(ReduceFrontBackTest, GivesZeroForNoElements) {
  for (const char* type : {"ReduceFrontSum", "ReduceFrontMean", "ReduceFrontMax"}) {
    Workspace ws;
    Feed<float>(&ws, "X", {0, 2}, {});
    RunOp(&ws, Op(type));
    ExpectTensor<float>(ws, "Y", {2}, {0, 0});
  }
  for (const char* type : {"ReduceBackSum", "ReduceBackMean", "ReduceBackMax"}) {
    Workspace ws;
    Feed<float>(&ws, "X", {2, 0}, {});
    RunOp(&ws, Op(type));
    ExpectTensor<float>(ws, "Y", {2}, {0, 0});
  }
}

TEST(ReduceFrontBackTest, RejectsIncompatibleShapes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  for (const int dims : {-1, 3}) {
    ExpectThrows([&] { RunOp(&ws, Op("ReduceBackSum", dims)); },
                 "argument num_reduce_dim is " + std::to_string(dims) + ", want 0 to 2");
  }
  Feed<int32_t>(&ws, "L", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("ReduceBackSum", 1, true)); },
               "elements of input 1 (lengths) of shape [3]");
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontSum", 2, true)); },
               "argument num_reduce_dim with input 1");
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontSum", 1, true)); },
               "element 2 of input 1 (lengths)");
  FeedRange<int32_t>(&ws, "X", {2, 3});
  Feed<int32_t>(&ws, "L", {3}, {1, 2, 0});
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontMean", 1, true)); }, "cannot be divided by 0");
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontMax")); },
               "input 0 (X) has elements of type int32, want float");
  Feed<int64_t>(&ws, "L", {3}, {1, 2, 0});
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontSum", 1, true)); }, "int");
}

std::string GradientOp(const std::string& type, const std::string& inputs, int dims = 1) {
  std::string text = "type: \"" + type + "\" output: \"dX\" ";
  for (const char input : inputs) {
    text += std::string("input: \"") + (input == 'd' ? "dY" : std::string(1, input)) + "\" ";
  }
  return text + R"(arg { name: "num_reduce_dim" i: )" + std::to_string(dims) + " }";
}

TEST(ReduceFrontBackGradientTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  std::vector<float> x;
  for (int i = 0; i < 12; ++i) x.push_back(0.25f * static_cast<float>(i * 5 % 12));
  Feed<float>(&ws, "X", {3, 2, 2}, x);
  for (const char* type : {"ReduceFrontSum", "ReduceFrontMean", "ReduceFrontMax", "ReduceBackSum",
                           "ReduceBackMean", "ReduceBackMax"}) {
    for (const int dims : {0, 1, 2, 3}) test::ExpectGradientMatches(&ws, Op(type, dims));
  }
  Feed<int32_t>(&ws, "L", {4}, {1, 2, 3, 2});
  for (const char* type : {"ReduceFrontSum", "ReduceFrontMean", "ReduceFrontMax"}) {
    test::ExpectGradientMatches(&ws, Op(type, 1, true));
  }
  Feed<int32_t>(&ws, "L", {6}, {1, 2, 1, 2, 2, 1});
  for (const char* type : {"ReduceBackSum", "ReduceBackMean", "ReduceBackMax"}) {
    test::ExpectGradientMatches(&ws, Op(type, 1, true));
  }
}

// Recorded from the original, where lengths of 0 and beyond the elements have a meaning.
TEST(ReduceFrontBackGradientTest, GivesElementsBeyondTheLengthsNone) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  Feed<float>(&ws, "dY", {3}, {6, 4, 2});
  Feed<int32_t>(&ws, "L", {3}, {0, 1, 4});
  const std::string mean = GradientOp("ReduceFrontMeanGradient", "dXL");
  RunOp(&ws, mean);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 4, 0.5f, 0, 0, 0.5f});
  ExpectShapeInferred(&ws, mean);
  Feed<float>(&ws, "Y", {2}, {1, 5});
  Feed<float>(&ws, "dY", {2}, {7, 8});
  Feed<int32_t>(&ws, "L", {2}, {3, 2});
  const std::string largest = GradientOp("ReduceBackMaxGradient", "dXYL");
  RunOp(&ws, largest);
  ExpectTensor<float>(ws, "dX", {2, 3}, {0, 7, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, largest);
}

TEST(ReduceFrontBackGradientTest, AcceptsTheShapeInsteadOfTheInput) {
  Workspace ws;
  Feed<int64_t>(&ws, "S", {2}, {2, 3});
  Feed<int32_t>(&ws, "dY", {2}, {-7, 9});
  const std::string mean = GradientOp("ReduceBackMeanGradient", "dS");
  RunOp(&ws, mean);
  ExpectTensor<int32_t>(ws, "dX", {2, 3}, {-2, -2, -2, 3, 3, 3});
  ExpectShapeInferred(&ws, mean, true);
  Feed<int64_t>(&ws, "S", {2}, {0, 2});
  RunOp(&ws, GradientOp("ReduceFrontSumGradient", "dS"));
  ExpectTensor<int32_t>(ws, "dX", {0, 2}, {});
}

// Only a vector of int64 can be a shape.
TEST(ReduceFrontBackGradientTest, KnowsTheShapeOfAnInputOfIntegers) {
  Workspace ws;
  FeedRange<int64_t>(&ws, "X", {2, 3});
  Feed<int64_t>(&ws, "dY", {3}, {7, 8, 9});
  const std::string sum = GradientOp("ReduceFrontSumGradient", "dX");
  RunOp(&ws, sum);
  ExpectTensor<int64_t>(ws, "dX", {2, 3}, {7, 8, 9, 7, 8, 9});
  ExpectShapeInferred(&ws, sum);
  FeedRange<int32_t>(&ws, "X", {3});
  Feed<int32_t>(&ws, "dY", {}, {7});
  const std::string of_vector = GradientOp("ReduceBackSumGradient", "dX");
  RunOp(&ws, of_vector);
  ExpectTensor<int32_t>(ws, "dX", {3}, {7, 7, 7});
  ExpectShapeInferred(&ws, of_vector);
}

TEST(ReduceFrontBackGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "dY", {2});
  FeedRange<float>(&ws, "Y", {3});
  FeedRange<int32_t>(&ws, "L", {3});
  const auto run = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  ExpectThrows(run(GradientOp("ReduceFrontSumGradient", "dX")),
               "elements of input 0 (dY) of shape [2], want one for each output");
  ExpectThrows(run(GradientOp("ReduceBackSumGradient", "dXL")),
               "elements of input 2 (lengths) of shape [3], want one for each output");
  ExpectThrows(run(GradientOp("ReduceBackMaxGradient", "dXY")),
               "elements of input 2 (Y) of shape [3], want one for each output");
  ExpectThrows(run(GradientOp("ReduceBackSumGradient", "dX", 3)), "argument num_reduce_dim is 3");
  FeedRange<float>(&ws, "dY", {1});
  FeedRange<int32_t>(&ws, "L", {1});
  ExpectThrows(run(GradientOp("ReduceFrontSumGradient", "dXL", 2)),
               "argument num_reduce_dim with input 2 (lengths)");
}

}  // namespace
}  // namespace caffe2rt::reduce_front_back_test
