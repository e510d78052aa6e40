// What ImageInput draws at random: the spread and the limits of each draw, measured on images whose
// colours are those of their places.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "operators/io/image_augmentation.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_draws_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Red is the column, green the row, blue 7.
ImageRecord PlacesRecord(int height, int width) {
  ImageRecord record;
  record.image = {.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {x, y, 7}) record.image.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  return record;
}

ImageAugmentation ToCrop(int scale, int crop, bool is_test) {
  ImageAugmentation how;
  how.scale = scale;
  how.crop = crop;
  how.is_test = is_test;
  how.mean = {0, 0, 0};
  how.std = {1, 1, 1};
  return how;
}

std::vector<float> Drawn(const ImageRecord& record, const ImageAugmentation& how, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<float> output(static_cast<size_t>(how.size()));
  AugmentImage(record, how, &generator, output.data());
  return output;
}

TEST(ImageDrawsTest, ScalesLieBetweenTheLeastAndTheGreatest) {
  const ImageRecord record = PlacesRecord(17, 17);
  std::set<std::vector<float>> want, got;
  for (int scale = 3; scale <= 6; ++scale) want.insert(Drawn(record, ToCrop(scale, 3, true), 0));
  ASSERT_EQ(want.size(), 4u);
  for (const int beside : {-1, 9}) {  // the argument scale counts no more
    ImageAugmentation how = ToCrop(beside, 3, true);
    how.random_scale = {3, 6};
    got.clear();
    for (uint32_t seed = 0; seed < 200; ++seed) got.insert(Drawn(record, how, seed));
    EXPECT_EQ(got, want);
    how.random_scale = {4, 4};
    EXPECT_EQ(Drawn(record, how, 1), Drawn(record, ToCrop(4, 3, true), 1));
  }
  // A large image becomes smaller and a small one larger, whatever minsize is.
  ImageAugmentation how = ToCrop(-1, 2, true);
  how.min_size = 2;
  how.random_scale = {2, 2};
  // The columns 0 to 3 and 4 to 7 of eight, and likewise rows: 1.5 and 5.5, rounded.
  const std::vector<float> small = Drawn(PlacesRecord(8, 8), how, 1);
  EXPECT_NEAR(small[8], 1.5, 0.5);
  EXPECT_NEAR(small[9], 5.5, 0.5);
  EXPECT_NEAR(small[6], 5.5, 0.5);
}

// A scale or a minsize below 1 is none.
TEST(ImageDrawsTest, ScaleZeroLeavesTheLeastSize) {
  for (const int none : {-1, 0}) {
    ImageAugmentation how = ToCrop(none, 3, true);
    how.min_size = 3;
    const std::vector<float> large = Drawn(PlacesRecord(5, 7), how, 0);  // as it is
    EXPECT_EQ(std::vector<float>(large.end() - 9, large.end()),
              (std::vector<float>{2, 3, 4, 2, 3, 4, 2, 3, 4}));
    const std::vector<float> small = Drawn(PlacesRecord(1, 1), how, 0);  // becomes 3 x 3
    EXPECT_EQ(small[0], 7);
    how.min_size = none;
    how.scale = 3;
    EXPECT_EQ(Drawn(PlacesRecord(6, 9), how, 0), Drawn(PlacesRecord(6, 9), ToCrop(3, 3, true), 0));
  }
}

TEST(ImageDrawsTest, TallImagesKeepTheirRatio) {
  // 8 x 4 becomes 4 x 2; rows 1 and 2 of it are the means of rows 2 and 3, 4 and 5.
  const std::vector<float> tall = Drawn(PlacesRecord(8, 4), ToCrop(2, 2, true), 0);
  EXPECT_NEAR(tall[4], 2.5, 0.5);
  EXPECT_NEAR(tall[6], 4.5, 0.5);
  EXPECT_NEAR(tall[8], 0.5, 0.5);
  EXPECT_NEAR(tall[9], 2.5, 0.5);
  // Sides are rounded down: 7 x 3 becomes 4 x 2, and 3 x 7 becomes 2 x 4.
  for (const auto& [height, width] : {std::pair(7, 3), std::pair(3, 7)}) {
    ImageAugmentation how = ToCrop(2, 2, true);
    how.min_size = -1;
    const std::vector<float> got = Drawn(PlacesRecord(height, width), how, 0);
    const Image want = ResizeImage(PlacesRecord(height, width).image, width > height ? 4 : 2,
                                   height > width ? 4 : 2, Interpolation::kArea);
    const int top = (want.height - 2) / 2, left = (want.width - 2) / 2;
    for (int i = 0; i < 4; ++i) {
      const size_t at = static_cast<size_t>(3 * ((top + i / 2) * want.width + left + i % 2));
      EXPECT_EQ(got[static_cast<size_t>(8 + i)], want.rgb[at]);
      EXPECT_EQ(got[static_cast<size_t>(4 + i)], want.rgb[at + 1]);
    }
  }
}

TEST(ImageDrawsTest, AnImageBelowTheCropIsNamedWithItsSize) {
  ExpectThrows([] { Drawn(PlacesRecord(6, 4), ToCrop(2, 3, true), 0); },
               "image has 3 x 2 pixels after scaling, want at least 3, the argument crop; scale or "
               "minsize makes it larger");
  ExpectThrows([] { Drawn(PlacesRecord(4, 6), ToCrop(2, 3, true), 0); },
               "image has 2 x 3 pixels after scaling, want at least 3");
}

// The part of the image that a square of two pixels was made from: the mean columns and rows of its
// halves.
struct JitteredPart {
  double left, top, width, height;
};
JitteredPart PartOf(const std::vector<float>& output) {
  const double width = 2 * (output[9] - output[8]), height = 2 * (output[6] - output[4]);
  return {output[8] - width / 4 + 0.5, output[4] - height / 4 + 0.5, width, height};
}

TEST(ImageDrawsTest, JitteredScalesAreOfTheSizesAndRatiosOfInception) {
  constexpr double kSide = 200, kRounding = 3;  // each byte is rounded
  const ImageRecord record = PlacesRecord(200, 200);
  ImageAugmentation how = ToCrop(2, 2, false);
  how.inception_scale_jitter = true;
  std::vector<double> areas, ratios, lefts, tops, rights, bottoms;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const std::vector<float> output = Drawn(record, how, seed);
    EXPECT_EQ(output[0], 7);
    const JitteredPart part = PartOf(output);
    areas.push_back(part.width * part.height / (kSide * kSide));
    if (part.width > 120 && part.height > 120) ratios.push_back(part.width / part.height);
    lefts.push_back(part.left);
    tops.push_back(part.top);
    rights.push_back(part.left + part.width);
    bottoms.push_back(part.top + part.height);
  }
  const auto expect = [](const std::vector<double>& values, double least, double most,
                         double tolerance) {
    EXPECT_NEAR(*std::min_element(values.begin(), values.end()), least, tolerance);
    EXPECT_NEAR(*std::max_element(values.begin(), values.end()), most, tolerance);
  };
  expect(areas, 0.08, 0.98, 0.02);
  // Larger parts have ratios near 1, so these are of parts from 36 % to 75 % of the area.
  expect(ratios, 0.75, 4.0 / 3, 0.04);
  // Parts lie everywhere up to the borders, and not beyond.
  for (const auto* firsts : {&lefts, &tops})
    EXPECT_NEAR(*std::min_element(firsts->begin(), firsts->end()), 0, kRounding);
  for (const auto* ends : {&rights, &bottoms})
    EXPECT_NEAR(*std::max_element(ends->begin(), ends->end()), kSide, kRounding);
  // In tests there is no jitter.
  how.is_test = true;
  EXPECT_EQ(Drawn(record, how, 1), Drawn(record, ToCrop(2, 2, true), 1));
}

// The largest part of 8 % that fits into one row of 200 pixels would be four rows high.
TEST(ImageDrawsTest, JitterThatFitsNowhereScalesAsUsual) {
  ImageAugmentation how = ToCrop(2, 2, false);
  how.inception_scale_jitter = true;
  std::set<float> columns;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<float> output = Drawn(PlacesRecord(1, 200), how, seed);
    EXPECT_EQ(output[8], output[10]);  // both rows are the same one
    EXPECT_LE(output[9] - output[8], 1);
    columns.insert(output[8]);
  }
  EXPECT_GT(columns.size(), 20u);
}

TEST(ImageDrawsTest, SquaresAreCutOutEverywhereAlike) {
  ImageAugmentation how = ToCrop(4, 2, false);
  how.mirror = true;
  int mirrored = 0;
  std::array<int, 9> at{};
  constexpr int kSeeds = 1800;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<float> output = Drawn(PlacesRecord(4, 4), how, seed);
    const bool is_mirrored = output[9] < output[8];
    mirrored += is_mirrored ? 1 : 0;
    ++at[static_cast<size_t>(3 * output[4] + output[is_mirrored ? 9 : 8])];
  }
  // Half of 1,800 with a standard deviation of 21, and a ninth with one of 13.
  EXPECT_NEAR(mirrored, kSeeds / 2, 110);
  for (const int count : at) EXPECT_NEAR(count, kSeeds / 9, 70);
}

// The components of ImageNet's colours as AlexNet's authors and others published them.
TEST(ImageDrawsTest, LightingVariesAlongEachComponentByItsOwnAmount) {
  constexpr double kComponents[3][3] = {
      {-0.5675, -0.5808, -0.5836}, {0.7192, -0.0045, -0.6948}, {0.4009, -0.8140, 0.4203}};
  constexpr double kSpreads[3] = {0.2175, 0.0188, 0.0045};
  constexpr int kSeeds = 3000;
  ImageAugmentation how = ToCrop(2, 2, false);
  how.color_lighting = true;
  how.color_lighting_std = 0.5f;
  ImageRecord record = PlacesRecord(2, 2);
  std::fill(record.image.rgb.begin(), record.image.rgb.end(), uint8_t{0});
  double sums[3] = {}, products[3][3] = {};
  int within = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<float> output = Drawn(record, how, seed);
    for (size_t i = 0; i < 12; ++i) EXPECT_EQ(output[i], output[i / 4 * 4]);  // all pixels alike
    double numbers[3];
    for (int k = 0; k < 3; ++k) {
      const double along = kComponents[k][0] * output[8] + kComponents[k][1] * output[4] +
                           kComponents[k][2] * output[0];
      numbers[k] = along / (255 * kSpreads[k] * 0.5);
      sums[k] += numbers[k];
    }
    for (int k = 0; k < 9; ++k) products[k / 3][k % 3] += numbers[k / 3] * numbers[k % 3];
    within += std::abs(numbers[1]) < 1 ? 1 : 0;
  }
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sums[k] / kSeeds, 0, 0.1);
  for (int k = 0; k < 9; ++k)
    EXPECT_NEAR(products[k / 3][k % 3] / kSeeds, k / 3 == k % 3 ? 1 : 0, 0.14);
  EXPECT_NEAR(static_cast<double>(within) / kSeeds, 0.6827, 0.045);
}

// Each of the three changes draws from [1 - spread, 1 + spread], as likely below 1 as above.
TEST(ImageDrawsTest, ColoursChangeUpAndDownAlike) {
  ImageRecord record;
  record.image = {.width = 1, .height = 1, .rgb = {0, 0, 100}};
  for (int change = 0; change < 2; ++change) {
    ImageAugmentation how = ToCrop(1, 1, false);
    how.color_jitter = true;
    how.saturation = change == 0 ? 0.25f : 0;
    how.brightness = change == 1 ? 0.25f : 0;
    how.contrast = 0;
    int above = 0;
    double sum = 0;
    for (uint32_t seed = 0; seed < 1000; ++seed) {
      const std::vector<float> output = Drawn(record, how, seed);
      // Of 100 blue, the grey is 11.4.
      const double alpha = change == 0 ? (output[0] - 11.4) / 88.6 : output[0] / 100;
      EXPECT_GE(alpha, 0.7499);
      EXPECT_LE(alpha, 1.2501);
      above += alpha > 1 ? 1 : 0;
      sum += alpha;
      const double rest = change == 0 ? 11.4 * (1 - alpha) : 0;
      EXPECT_NEAR(output[1], rest, 1e-3);
      EXPECT_NEAR(output[2], rest, 1e-3);
    }
    EXPECT_NEAR(above, 500, 80);
    EXPECT_NEAR(sum / 1000, 1, 0.025);
  }
}

// Contrast moves every colour towards the mean grey of the square that is cut out, not of the
// image.
TEST(ImageDrawsTest, ContrastIsAroundTheMeanGreyOfTheSquare) {
  ImageRecord record;
  record.image = {.width = 4, .height = 4, .rgb = std::vector<uint8_t>(48, 255)};
  const int square[4][3] = {{10, 20, 30}, {0, 0, 0}, {100, 0, 0}, {0, 50, 200}};
  double grey = 0;
  for (int i = 0; i < 4; ++i) {
    for (int c = 0; c < 3; ++c) {
      const int at = ((1 + i / 2) * 4 + 1 + i % 2) * 3 + c;
      record.image.rgb[static_cast<size_t>(at)] = static_cast<uint8_t>(square[i][c]);
    }
    grey += (0.299 * square[i][0] + 0.587 * square[i][1] + 0.114 * square[i][2]) / 4;
  }
  record.box = ImageBox{.y = 1, .x = 1, .height = 2, .width = 2};
  ImageAugmentation how = ToCrop(2, 2, false);
  how.color_jitter = true;
  how.saturation = how.brightness = 0;
  how.contrast = 0.5f;
  std::set<int> alphas;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const std::vector<float> output = Drawn(record, how, seed);
    const double alpha = 1 - output[1] / grey;  // pixel 1 is black
    EXPECT_GE(alpha, 0.4999);
    EXPECT_LE(alpha, 1.5001);
    alphas.insert(static_cast<int>(alpha * 10));
    for (int i = 0; i < 12; ++i) {
      const double before = square[i % 4][2 - i / 4];
      EXPECT_NEAR(output[static_cast<size_t>(i)], alpha * before + (1 - alpha) * grey, 1e-3);
    }
  }
  EXPECT_GE(alphas.size(), 9u);  // 0.5 to 1.5 in tenths
}

}  // namespace
}  // namespace caffe2rt::test::image_draws_test
