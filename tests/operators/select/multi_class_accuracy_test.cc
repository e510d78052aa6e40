#include <limits>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::multi_class_accuracy_test {
namespace {

const char* const kAccuracy =
    R"(type: "MultiClassAccuracy" input: "X" input: "L" output: "A" output: "N")";

TEST(MultiClassAccuracyTest, CountsTheRightRowsOfEachClass) {
  Workspace ws;
  Feed<float>(&ws, "X", {4, 3}, {0, 1, 0, 1, 0, 0, 2, 2, 1, 0, 0, 3});
  Feed<int32_t>(&ws, "L", {4}, {1, 1, 0, 0});
  RunOp(&ws, kAccuracy);
  // Of class 0, row 2 is right (the first of equal elements); of class 1, row 0; class 2 has no rows.
  ExpectTensor<float>(ws, "A", {3}, {0.5f, 0.5f, 0});
  ExpectTensor<int32_t>(ws, "N", {3}, {2, 2, 0});
  ExpectShapeInferred(&ws, kAccuracy);
}

TEST(MultiClassAccuracyTest, TakesNaNForTheLeastAndNoRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {std::numeric_limits<float>::quiet_NaN(), -5});
  Feed<int32_t>(&ws, "L", {1}, {1});
  RunOp(&ws, kAccuracy);
  ExpectTensor<float>(ws, "A", {2}, {0, 1});
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, kAccuracy);
  ExpectTensor<float>(ws, "A", {2}, {0, 0});
  ExpectTensor<int32_t>(ws, "N", {2}, {0, 0});
}

TEST(MultiClassAccuracyTest, RejectsLabelsAndShapesThatDoNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {1, 2});
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunOp(&ws, kAccuracy); }, part);
  };
  Feed<int32_t>(&ws, "L", {1}, {2});
  rejects("element 0 of input 1 (labels) is 2, want at least 0 and less than 2");
  Feed<int32_t>(&ws, "L", {1}, {-1});
  rejects("element 0 of input 1 (labels) is -1");
  Feed<float>(&ws, "X", {1, 0}, {});
  Feed<int32_t>(&ws, "L", {1}, {0});
  rejects("element 0 of input 1 (labels) is 0, want at least 0 and less than 0");
  FeedRandom(&ws, "X", {1, 2});
  Feed<int32_t>(&ws, "L", {2}, {0, 0});
  rejects("elements of input 1 (labels), want the rows of prediction");
  FeedRandom(&ws, "X", {2});
  rejects("rank of input 0 (prediction), want 2");
}

}  // namespace
}  // namespace caffe2rt::test::multi_class_accuracy_test
