#include "operators/detection/box_suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::box_suppression_test {
namespace {

using testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(ScoreOrderTest, PutsTheLargestFirstAndNaNLast) {
  ScoreOrder order;
  const float scores[] = {kNaN, -2, 0.5f, -kInf, kInf, -1, 3, kNaN};
  EXPECT_THAT(order.Sort(scores, 8, 0, true), ElementsAre(4, 6, 2, 5, 1, 3, 0, 7));
  EXPECT_THAT(order.Sort(scores, 8, 3, false), ElementsAre(4, 6, 2));
  EXPECT_THAT(order.Sort(scores, 0, 3, false), ElementsAre());
}

TEST(ScoreOrderTest, KeepsTheOrderOfEqualScoresIfStable) {
  ScoreOrder order;
  const float scores[] = {1, 0.0f, 1, -0.0f, 1};
  EXPECT_THAT(order.Sort(scores, 5, 0, true), ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(order.Sort(scores, 5, 2, true), ElementsAre(0, 2));
  const std::vector<float> equal(1000, 0.25f);
  std::vector<int32_t> all = order.Sort(equal.data(), 1000, 0, false);
  EXPECT_EQ(all.size(), 1000u);
  std::sort(all.begin(), all.end());
  for (int32_t i = 0; i < 1000; ++i) EXPECT_EQ(all[static_cast<size_t>(i)], i);
}

// As in Caffe2, equal scores are in the order in which the standard library leaves them.
TEST(ScoreOrderTest, LeavesEqualScoresWhereTheStandardLibraryPutsThem) {
  ScoreOrder order;
  for (const int32_t levels : {2, 3, 10, 1000}) {  // different scores
    for (const int32_t top : {0, 1, 2, 7, 20, 39}) {
      std::vector<float> scores;
      for (int32_t i = 0; i < 40; ++i) scores.push_back(static_cast<float>(i * 17 % 41 % levels));
      std::vector<int32_t> want(scores.size());
      std::iota(want.begin(), want.end(), 0);
      const auto higher = [&](int32_t a, int32_t b) {
        return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
      };
      if (top > 0) {
        std::partial_sort(want.begin(), want.begin() + top, want.end(), higher);
        want.resize(static_cast<size_t>(top));
      } else {
        std::sort(want.begin(), want.end(), higher);
      }
      EXPECT_EQ(order.Sort(scores.data(), 40, top, false), want) << levels << " " << top;
    }
  }
}

// The last of the selected scores equals one that is left out, which is the only tie.
TEST(ScoreOrderTest, ATieWithAScoreThatIsLeftOutCounts) {
  ScoreOrder order;
  std::vector<float> scores = {1, 5, 5, 8, 9};
  do {
    std::vector<int32_t> want = {0, 1, 2, 3, 4};
    std::partial_sort(want.begin(), want.begin() + 3, want.end(), [&](int32_t a, int32_t b) {
      return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
    });
    want.resize(3);
    EXPECT_EQ(order.Sort(scores.data(), 5, 3, false), want) << testing::PrintToString(scores);
  } while (std::next_permutation(scores.begin(), scores.end()));
}

// The definition, one pair at a time.
std::vector<int32_t> NaiveSelect(const SuppressionRule& rule, const std::vector<float>& boxes,
                                 const std::vector<int32_t>& order) {
  std::vector<int32_t> kept;
  for (const int32_t row : order) {
    bool keep = true;
    for (const int32_t other : kept) {
      keep = keep && OverlapOfBoxes(rule, boxes.data() + other * rule.dim(),
                                    boxes.data() + row * rule.dim()) <= rule.threshold;
    }
    if (keep) kept.push_back(row);
  }
  return kept;
}

TEST(BoxSuppressorTest, AgreesWithTheDefinition) {
  for (const bool rotated : {false, true}) {
    const SuppressionRule rule{rotated, 1, 0.3f};
    const int64_t n = 200;
    const std::vector<float> corners = RandomValues(2 * n, 0, 50, 1),
                             sizes = RandomValues(2 * n, 1, 30, 2);
    std::vector<float> boxes;
    for (size_t i = 0; i < 2 * n; i += 2) {
      const float x = corners[i], y = corners[i + 1], w = sizes[i], h = sizes[i + 1];
      if (rotated) {
        boxes.insert(boxes.end(), {x, y, w, h, 7 * w});
      } else {
        boxes.insert(boxes.end(), {x, y, x + w, y + h});
      }
    }
    std::vector<int32_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const std::vector<int32_t> want = NaiveSelect(rule, boxes, order);
    BoxSuppressor suppressor;
    EXPECT_EQ(suppressor.Select(rule, boxes.data(), order.data(), n, 0), want);
    EXPECT_EQ(suppressor.Select(rule, boxes.data(), order.data(), n, 5),
              std::vector<int32_t>(want.begin(), want.begin() + 5));
  }
}

TEST(BoxSuppressorTest, NaNCountsAsAnOverlap) {
  BoxSuppressor suppressor;
  const float boxes[] = {0, 0, 9, 9, kNaN, kNaN, kNaN, kNaN, 20, 20, 29, 29};
  const int32_t order[] = {0, 1, 2};
  EXPECT_THAT(suppressor.Select({false, 1, 0.5f}, boxes, order, 3, 0), ElementsAre(0, 2));
}

TEST(BoxSuppressorTest, SoftSuppressionDecreasesScores) {
  BoxSuppressor suppressor;
  // The second box overlaps the first one by 80 / 120.
  const float boxes[] = {0, 0, 9, 9, 2, 0, 11, 9, 20, 20, 29, 29};
  const int32_t rows[] = {0, 1, 2};
  float scores[] = {0.9f, 0.8f, 0.7f};
  EXPECT_THAT(suppressor.SelectSoftly({false, 1, 0.5f}, {SoftMethod::kLinear, 0.5f, 0.001f}, boxes,
                                      rows, 3, scores),
              ElementsAre(0, 2, 1));
  EXPECT_FLOAT_EQ(scores[1], 0.8f / 3);
  EXPECT_FLOAT_EQ(scores[2], 0.7f);

  float gaussian[] = {0.9f, 0.8f, 0.7f};
  EXPECT_THAT(suppressor.SelectSoftly({false, 1, 0.5f}, {SoftMethod::kGaussian, 0.5f, 0.001f},
                                      boxes, rows, 3, gaussian),
              ElementsAre(0, 2, 1));
  EXPECT_FLOAT_EQ(gaussian[1], 0.8f * std::exp(-4.0f / 9 / 0.5f));

  float limited[] = {0.9f, 0.8f, 0.7f};
  EXPECT_THAT(suppressor.SelectSoftly({false, 1, 0.5f}, {SoftMethod::kLinear, 0.5f, 0.3f}, boxes,
                                      rows, 3, limited),
              ElementsAre(0, 2));
}

}  // namespace
}  // namespace caffe2rt::test::box_suppression_test
