#include "operators/detection/rotated_overlap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace caffe2rt::test::rotated_overlap_test {
namespace {

float Overlap(const std::vector<float>& a, const std::vector<float>& b) {
  const float overlap = OverlapOfRotatedBoxes(a.data(), b.data());
  const float other = OverlapOfRotatedBoxes(b.data(), a.data());
  EXPECT_TRUE(std::abs(overlap - other) < 1e-6 || std::isnan(overlap)) << overlap << " " << other;
  return overlap;
}

TEST(RotatedOverlapTest, IsTheShareOfTheUnion) {
  EXPECT_FLOAT_EQ(Overlap({5, 5, 4, 2, 30}, {5, 5, 4, 2, 30}), 1);
  EXPECT_FLOAT_EQ(Overlap({5, 5, 4, 2, 0}, {7, 5, 4, 2, 0}), 1.0f / 3);
  EXPECT_FLOAT_EQ(Overlap({5, 5, 4, 2, 0}, {5, 5, 2, 4, 90}), 1);
  EXPECT_FLOAT_EQ(Overlap({5, 5, 4, 2, 0}, {5, 5, 4, 2, 90}), 4.0f / 12);
  EXPECT_FLOAT_EQ(Overlap({0, 0, 2, 2, 0}, {50, 0, 2, 2, 45}), 0);
  EXPECT_FLOAT_EQ(Overlap({0, 0, 2, 2, 0}, {2, 0, 2, 2, 0}), 0);
  EXPECT_FLOAT_EQ(Overlap({0, 0, 10, 10, 10}, {0, 0, 2, 2, 70}), 0.04f);
  // A corner of 0.1 by 0.1: the centers are farther apart than the sides are long.
  EXPECT_NEAR(Overlap({0, 0, 2, 2, 0}, {1.9f, 1.9f, 2, 2, 0}), 0.01f / 7.99f, 1e-5);
  // The common part of a square and the same square turned by 45 degrees is a regular octagon.
  const float octagon = 8 * (std::sqrt(2.0f) - 1);
  EXPECT_FLOAT_EQ(Overlap({0, 0, 2, 2, 0}, {0, 0, 2, 2, 45}), octagon / (8 - octagon));
  // A corner: a triangle with the legs 1 - (1.5 - sqrt(0.5)) times the square root of 2.
  const float height = 1 - (1.5f - std::sqrt(2.0f) / 2), triangle = height * height;
  EXPECT_NEAR(Overlap({0, 0, 2, 2, 0}, {1.5f, 0, 1, 1, 45}), triangle / (5 - triangle), 1e-5);
}

// Points inside a box, counted on a grid.
TEST(RotatedOverlapTest, AgreesWithCounting) {
  const auto inside = [](const std::vector<float>& box, double x, double y) {
    const double angle = box[4] * 3.14159265358979 / 180, dx = x - box[0], dy = y - box[1];
    const double u = dx * std::cos(angle) - dy * std::sin(angle);
    const double v = dx * std::sin(angle) + dy * std::cos(angle);
    return std::abs(u) <= box[2] / 2 && std::abs(v) <= box[3] / 2;
  };
  for (const auto& [a, b] : std::vector<std::pair<std::vector<float>, std::vector<float>>>{
           {{0, 0, 6, 2, 20}, {1, 0.5f, 4, 3, -50}},
           {{0, 0, 6, 2, 20}, {2, -1, 4, 1, 35}},
           {{-1, 1, 3, 5, 200}, {0, 0, 4, 4, 77}}}) {
    int common = 0, either = 0;
    for (int i = 0; i < 800 * 800; ++i) {
      const double x = (i % 800 - 400) / 80.0, y = (i / 800 - 400) / 80.0;
      common += inside(a, x, y) && inside(b, x, y);
      either += inside(a, x, y) || inside(b, x, y);
    }
    EXPECT_NEAR(Overlap(a, b), static_cast<double>(common) / either, 2e-3);
  }
}

TEST(RotatedOverlapTest, OfStrangeBoxes) {
  EXPECT_EQ(Overlap({0, 0, 0, 5, 0}, {0, 0, 2, 2, 10}), 0);
  EXPECT_EQ(Overlap({0, 0, -1, -5, 0}, {0, 0, 2, 2, 10}), 0);
  EXPECT_TRUE(std::isnan(Overlap({0, 0, 0, 0, 0}, {0, 0, 0, 0, 0})));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(Overlap({0, 0, 1, 1, inf}, {0, 0, 1, 1, 0})));
  EXPECT_FALSE(std::isnan(Overlap({0, 0, 1e30f, 1e30f, 5}, {3e38f, 0, 1e30f, 1, 0})));
}

}  // namespace
}  // namespace caffe2rt::test::rotated_overlap_test
