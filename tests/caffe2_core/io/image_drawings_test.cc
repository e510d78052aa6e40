// What DrawBox paints, pixel by pixel: digits, the thickness of lines, their colours, and boxes
// partly outside.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_boxes.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_drawings_test {
namespace {

using Pixel = std::vector<int>;

Image Paper(int width, int height) {
  return {.width = width,
          .height = height,
          .rgb = std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
}

Pixel PixelAt(const Image& image, int x, int y) {
  const size_t at = static_cast<size_t>((y * image.width + x) * 3);
  return {image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]};
}

const Pixel kBlack = {0, 0, 0}, kWhite = {255, 255, 255};

int Painted(const Image& image) {
  int count = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) count += PixelAt(image, x, y) != kBlack;
  }
  return count;
}

// A box of one point, outside of which there is only the number.
DrawnBox PointBox(float x, float y, int64_t number) {
  DrawnBox box = UprightBox({x, y}, {x, y});
  box.number = number;
  return box;
}

constexpr const char* kDigitRows[10][5] = {
    {"###", "#.#", "#.#", "#.#", "###"}, {".#.", "##.", ".#.", ".#.", "###"},
    {"###", "..#", "###", "#..", "###"}, {"###", "..#", "###", "..#", "###"},
    {"#.#", "#.#", "###", "..#", "..#"}, {"###", "#..", "###", "..#", "###"},
    {"###", "#..", "###", "#.#", "###"}, {"###", "..#", "..#", ".#.", ".#."},
    {"###", "#.#", "###", "#.#", "###"}, {"###", "#.#", "###", "..#", "###"}};

// A number whose plate begins at (left, top): white digits of 3 x 5 points on a plate with a
// margin of one, each point a square of `scale` pixels.
void ExpectNumber(const Image& image, const std::string& digits, int left, int top, int scale,
                  const Pixel& color) {
  const int columns = static_cast<int>(digits.size()) * 4 + 1;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const bool inside =
          x >= left && y >= top && x < left + columns * scale && y < top + 7 * scale;
      Pixel want = kBlack;
      if (inside) {
        const int column = (x - left) / scale - 1, row = (y - top) / scale - 1;
        const bool in_digit = column >= 0 && column % 4 < 3 && row >= 0 && row < 5;
        const bool is_ink =
            in_digit &&
            kDigitRows[digits[static_cast<size_t>(column / 4)] - '0'][row][column % 4] == '#';
        want = is_ink ? kWhite : color;
      }
      ASSERT_EQ(PixelAt(image, x, y), want) << digits << " at " << x << ", " << y;
    }
  }
}

Pixel ColorOf(int64_t color) {
  Image image = Paper(3, 3);
  DrawnBox box = UprightBox({1, 1}, {1, 1});
  box.color = color;
  DrawBox(box, &image);
  return PixelAt(image, 1, 1);
}

TEST(ImageDrawingsTest, NumbersAreWhiteDigitsOnAPlate) {
  for (const auto& [number, digits] :
       {std::pair(int64_t{0}, "0"), {7, "7"}, {1234567890, "1234567890"}, {98, "98"}}) {
    Image image = Paper(60, 20);
    DrawBox(PointBox(5, 6, number), &image);
    ExpectNumber(image, digits, 5, 6, 1, ColorOf(0));
  }
  Image none = Paper(60, 20);
  DrawBox(PointBox(5, 6, -1), &none);
  EXPECT_EQ(Painted(none), 1);
}

// A plate stays inside the image, as far as there is room.
TEST(ImageDrawingsTest, NumbersAreMovedInside) {
  const struct {
    float x, y;
    int left, top;
  } rows[] = {{18, 3, 11, 3}, {2, 9, 2, 5}, {-40, -40, 0, 0}, {1e9f, 1e9f, 11, 5}, {11, 5, 11, 5}};
  for (const auto& row : rows) {
    Image image = Paper(20, 12);
    DrawnBox box = PointBox(row.x, row.y, 42);
    DrawBox(box, &image);
    box.number = -1;
    Image point = Paper(20, 12);
    DrawBox(box, &point);  // the point itself may lie beside the plate
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool on_plate = x >= row.left && x < row.left + 9 && y >= row.top && y < row.top + 7;
        EXPECT_EQ(PixelAt(image, x, y) != kBlack, on_plate || PixelAt(point, x, y) != kBlack)
            << row.x << ", " << row.y << ": " << x << ", " << y;
      }
    }
  }
  Image small = Paper(4, 3);
  DrawBox(PointBox(2, 2, 1), &small);  // a plate that is larger covers all of the image
  EXPECT_EQ(Painted(small), 12);
}

// One pixel, and one more for each 300 of the shorter side. The line is around its place.
TEST(ImageDrawingsTest, LinesAreThickerInLargeImages) {
  const struct {
    int width, height, first, last;
  } rows[] = {{299, 800, 50, 50}, {300, 301, 49, 50}, {900, 599, 49, 50}, {600, 700, 49, 51}};
  for (const auto& row : rows) {
    Image image = Paper(row.width, row.height);
    DrawBox(UprightBox({50, 50}, {150, 120}), &image);
    for (int i = 40; i < 60; ++i) {
      const bool inside = i >= row.first && i <= row.last;
      EXPECT_EQ(PixelAt(image, 100, i) != kBlack, inside) << row.width << ": row " << i;
      EXPECT_EQ(PixelAt(image, i, 100) != kBlack, inside) << row.width << ": column " << i;
    }
    EXPECT_EQ(PixelAt(image, row.first, row.first), ColorOf(0));  // the corner
    EXPECT_EQ(PixelAt(image, row.first - 1, row.first - 1), kBlack);
  }
  Image image = Paper(320, 310);
  DrawBox(PointBox(30, 40, 25), &image);
  image.rgb[static_cast<size_t>((39 * 320 + 29) * 3)] = 0;  // the rest of the point of 2 x 2 pixels
  for (const auto& [x, y] : {std::pair(29, 39), {30, 39}, {29, 40}}) {
    for (int c = 0; c < 3; ++c) image.rgb[static_cast<size_t>((y * 320 + x) * 3 + c)] = 0;
  }
  ExpectNumber(image, "25", 30, 40, 2, ColorOf(0));
}

TEST(ImageDrawingsTest, EightColoursRepeat) {
  std::set<Pixel> colors;
  for (int64_t i = 0; i < 8; ++i) {
    colors.insert(ColorOf(i));
    EXPECT_EQ(ColorOf(i + 8), ColorOf(i));
    EXPECT_EQ(ColorOf(i - 8), ColorOf(i));
    EXPECT_EQ(ColorOf(i + 800000000), ColorOf(i));
  }
  EXPECT_EQ(colors.size(), 8u);
  EXPECT_FALSE(colors.contains(kWhite) || colors.contains(kBlack));
  EXPECT_EQ(ColorOf(-1), ColorOf(7));
  (void)ColorOf(INT64_MIN);
  (void)ColorOf(INT64_MAX);
}

TEST(ImageDrawingsTest, SlantedLinesHaveAPixelForEachStep) {
  for (const bool steep : {false, true}) {
    Image image = Paper(40, 40);
    const ImagePoint from = {5, 5}, to = steep ? ImagePoint{12, 26} : ImagePoint{26, 12};
    DrawBox({.corners = {from, to, from, to}}, &image);
    for (int i = 0; i <= 21; ++i) {
      const int far = 5 + i, near = 5 + (i + 1) / 3;  // a third, rounded
      EXPECT_NE(PixelAt(image, steep ? near : far, steep ? far : near), kBlack) << i;
    }
    EXPECT_EQ(Painted(image), 22);
  }
}

// Half a box has its lines up to the border, and nothing wraps around to the other side.
TEST(ImageDrawingsTest, LinesEndAtTheBorder) {
  Image image = Paper(10, 8);
  DrawBox(UprightBox({6, 5}, {14, 12}), &image);
  EXPECT_EQ(Painted(image), 4 + 3 - 1);
  for (int x = 6; x < 10; ++x) EXPECT_NE(PixelAt(image, x, 5), kBlack);
  for (int y = 5; y < 8; ++y) EXPECT_NE(PixelAt(image, 6, y), kBlack);
  image = Paper(10, 8);
  DrawBox(UprightBox({-7, -3}, {2, 1}), &image);
  EXPECT_EQ(Painted(image), 3 + 2 - 1);
  for (int x = 0; x <= 2; ++x) EXPECT_NE(PixelAt(image, x, 1), kBlack);
  EXPECT_NE(PixelAt(image, 2, 0), kBlack);
  ExpectThrows(
      [] {
        DrawBox(UprightBox({0, 0}, {1, 1}), nullptr);
      },
      "argument image of DrawBox is null");
}

// A line may begin and end up to twice the image's size outside. Here it rises by 8 over 48 columns.
TEST(ImageDrawingsTest, LinesFromOutsideKeepTheirSlope) {
  for (const bool steep : {false, true}) {
    Image image = Paper(10, 10);
    const ImagePoint from = steep ? ImagePoint{1, -20} : ImagePoint{-20, 1};
    const ImagePoint to = steep ? ImagePoint{9, 28} : ImagePoint{28, 9};
    DrawBox({.corners = {from, to, from, to}}, &image);
    for (int i = 2; i <= 6; ++i) {
      for (int k = 3; k <= 7; ++k) {
        EXPECT_EQ(PixelAt(image, steep ? k : i, steep ? i : k) != kBlack, k == 5) << i << " " << k;
      }
    }
  }
}

TEST(ImageDrawingsTest, BoxesTurnAgainstTheClock) {
  const DrawnBox box = TurnedBox({10, 20}, 4, 2, 30);
  // Half sides of 2 and 1 along (cos 30, -sin 30) and (sin 30, cos 30); y points down.
  const float want[4][2] = {{10 - 2.2321f, 20 + 0.1340f},
                            {10 + 1.2321f, 20 - 1.8660f},
                            {10 + 2.2321f, 20 - 0.1340f},
                            {10 - 1.2321f, 20 + 1.8660f}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(box.corners[i].x, want[i][0], 1e-3) << i;
    EXPECT_NEAR(box.corners[i].y, want[i][1], 1e-3) << i;
  }
  EXPECT_EQ(box.number, DrawnBox().number);
  const DrawnBox upright = UprightBox({1, 2}, {5, 9});
  const float corners[4][2] = {{1, 2}, {5, 2}, {5, 9}, {1, 9}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(upright.corners[i].x, corners[i][0]);
    EXPECT_EQ(upright.corners[i].y, corners[i][1]);
  }
}

}  // namespace
}  // namespace caffe2rt::test::image_drawings_test
