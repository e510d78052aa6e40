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
TEST(ReduceFrontBackTest, CountsAsManyElementsAsTheLengthsSay) {
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

TEST(ReduceFrontBackTest, RefusesWhatDoesNotFit) {
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
               "input 0 (X) has elements of type int, want float");
  Feed<int64_t>(&ws, "L", {3}, {1, 2, 0});
  ExpectThrows([&] { RunOp(&ws, Op("ReduceFrontSum", 1, true)); }, "int");
}

}  // namespace
}  // namespace caffe2rt::reduce_front_back_test
