#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::accuracy_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

TEST(AccuracyTest, CountsLabelsWithTheLargestPrediction) {
  Workspace ws;
  Feed<float>(&ws, "P", {3, 3}, {.1f, .6f, .3f, .5f, .5f, 0, .2f, .2f, .6f});
  Feed<int32_t>(&ws, "L", {3}, {1, 1, 2});
  const char* op = R"(type: "Accuracy" input: "P" input: "L" output: "Y")";
  RunOp(&ws, op);
  // In row 1, class 0 has the same value as the label's class, and comes first.
  ExpectTensor<float>(ws, "Y", {}, {2.0f / 3}, 1e-6);
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "Accuracy" input: "P" input: "L" output: "Y" arg { name: "top_k" i: 2 })");
  ExpectTensor<float>(ws, "Y", {}, {1});
}

TEST(AccuracyTest, CountsLabelsThatAreNoClassAsWrong) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {1, 0, 1, 0});
  Feed<int32_t>(&ws, "L", {2}, {-1, 2});
  RunOp(&ws, R"(type: "Accuracy" input: "P" input: "L" output: "Y" arg { name: "top_k" i: 9 })");
  ExpectTensor<float>(ws, "Y", {}, {0});
}

TEST(AccuracyTest, IsNaNWithoutRows) {
  Workspace ws;
  Feed<float>(&ws, "P", {0, 3}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, R"(type: "Accuracy" input: "P" input: "L" output: "Y")");
  ExpectTensor<float>(ws, "Y", {}, {NAN});
}

TEST(AccuracyTest, RejectsIncompatibleShapes) {
  Workspace ws;
  Feed<float>(&ws, "P", {2, 2}, {1, 0, 1, 0});
  Feed<float>(&ws, "V", {2}, {1, 0});
  Feed<int32_t>(&ws, "L", {2}, {0, 1});
  Feed<int32_t>(&ws, "L3", {3}, {0, 1, 1});
  Feed<int32_t>(&ws, "M", {2, 1}, {0, 1});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Accuracy" input: "V" input: "L" output: "Y")"); },
               "rank of input 0 (predictions) of shape [2]");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Accuracy" input: "P" input: "M" output: "Y")"); },
               "rank of input 1 (labels) of shape [2, 1]");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Accuracy" input: "P" input: "L3" output: "Y")"); },
               "want the rows of input 0 (predictions)");
}

}  // namespace
}  // namespace caffe2rt::accuracy_test
