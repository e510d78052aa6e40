#include "tests/support/operator_test.h"

namespace caffe2rt::test::margin_ranking_criterion_test {
namespace {

const char* const kLoss = R"(type: "MarginRankingCriterion" input: "A" input: "B" input: "S"
                             output: "L" arg { name: "margin" f: 0.5 })";

TEST(MarginRankingCriterionTest, ComputesTheLossOfEachPair) {
  Workspace ws;
  Feed<float>(&ws, "A", {4}, {1, 1, 3, 3});
  Feed<float>(&ws, "B", {4}, {2, 2, 1, 1});
  Feed<int32_t>(&ws, "S", {4}, {1, -1, 1, -1});
  RunOp(&ws, kLoss);
  // max(0, 0.5 - S * (A - B))
  ExpectTensor<float>(ws, "L", {4}, {1.5f, 0, 0, 2.5f});
  ExpectShapeInferred(&ws, kLoss);
  Feed<float>(&ws, "B", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, kLoss); }, "elements of input 1, want those of input 0 (X1)");
}

TEST(MarginRankingCriterionTest, HasTheGradientOfTheMarginAtTheMargin) {
  const char* const gradient =
      R"(type: "MarginRankingCriterionGradient" input: "A" input: "B" input: "S" input: "dL"
         output: "dA" output: "dB" arg { name: "margin" f: 0 })";
  Workspace ws;
  Feed<float>(&ws, "A", {3}, {1, 2, 1});
  Feed<float>(&ws, "B", {3}, {1, 1, 2});
  Feed<int32_t>(&ws, "S", {3}, {1, 1, -1});
  Feed<float>(&ws, "dL", {3}, {7, 7, 7});
  RunOp(&ws, gradient);
  // As Caffe2 where the two are equal and margin is 0.
  ExpectTensor<float>(ws, "dA", {3}, {-7, 0, 0});
  ExpectTensor<float>(ws, "dB", {3}, {7, 0, 0});
  ExpectShapeInferred(&ws, gradient);
}

}  // namespace
}  // namespace caffe2rt::test::margin_ranking_criterion_test
