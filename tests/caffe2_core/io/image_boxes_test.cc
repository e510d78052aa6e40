#include "caffe2_core/io/image_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace caffe2rt::image_boxes_test {
namespace {

Image Black(int width, int height) {
  return {.width = width,
          .height = height,
          .rgb = std::vector<uint8_t>(static_cast<size_t>(width * height * 3), 0)};
}

bool IsDrawn(const Image& image, int x, int y) {
  const auto at = static_cast<size_t>((y * image.width + x) * 3);
  return image.rgb[at] != 0 || image.rgb[at + 1] != 0 || image.rgb[at + 2] != 0;
}

int CountDrawn(const Image& image) {
  int count = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) count += IsDrawn(image, x, y);
  }
  return count;
}

TEST(ImageBoxesTest, DrawsTheOutline) {
  Image image = Black(40, 30);
  DrawBox(UprightBox({10, 5}, {30, 20}), &image);
  for (int x = 10; x <= 30; ++x) EXPECT_TRUE(IsDrawn(image, x, 5) && IsDrawn(image, x, 20)) << x;
  for (int y = 5; y <= 20; ++y) EXPECT_TRUE(IsDrawn(image, 10, y) && IsDrawn(image, 30, y)) << y;
  EXPECT_EQ(CountDrawn(image), 2 * 21 + 2 * 14);
}

TEST(ImageBoxesTest, DrawsTheNumberInsideTheImage) {
  Image image = Black(40, 30);
  DrawnBox box = UprightBox({35, -5}, {60, 20});
  box.number = 10;
  DrawBox(box, &image);
  // Two digits of 3 x 5 pixels with a margin of one pixel.
  EXPECT_TRUE(IsDrawn(image, 40 - 9, 0));
  EXPECT_TRUE(IsDrawn(image, 39, 6));
  EXPECT_FALSE(IsDrawn(image, 40 - 10, 0));
}

TEST(ImageBoxesTest, TurnsABoxAroundItsCenter) {
  const DrawnBox box = TurnedBox({10, 20}, 8, 4, 90);
  EXPECT_NEAR(box.corners[0].x, 8, 1e-4);
  EXPECT_NEAR(box.corners[0].y, 24, 1e-4);
  EXPECT_NEAR(box.corners[2].x, 12, 1e-4);
  EXPECT_NEAR(box.corners[2].y, 16, 1e-4);
}

TEST(ImageBoxesTest, AcceptsAnyCoordinates) {
  const float inf = std::numeric_limits<float>::infinity();
  Image image = Black(20, 10);
  for (const float wild : {inf, -inf, std::nanf("")}) {
    DrawBox(UprightBox({wild, 1}, {5, 5}), &image);
    DrawBox(UprightBox({1, 1}, {5, wild}), &image);
  }
  EXPECT_EQ(CountDrawn(image), 0);
  DrawBox(UprightBox({-1e30f, -1e30f}, {1e30f, 1e30f}), &image);
  EXPECT_EQ(CountDrawn(image), 0);
  DrawBox(UprightBox({-1e30f, 4}, {1e30f, 6}), &image);
  EXPECT_EQ(CountDrawn(image), 40);
}

}  // namespace
}  // namespace caffe2rt::image_boxes_test
