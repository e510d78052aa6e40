#include "operators/io/image_augmentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_augmentation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

// Red is 10 * row + column, green 100, blue 200.
ImageRecord Record(int height, int width) {
  ImageRecord record;
  record.image = {.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {10 * y + x, 100, 200})
        record.image.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  return record;
}

ImageAugmentation Plain(int side, int crop) {
  ImageAugmentation how;
  how.scale = side;
  how.crop = crop;
  how.is_test = true;
  how.mean = {0, 0, 0};
  how.std = {1, 1, 1};
  return how;
}

std::vector<float> Augment(const ImageRecord& record, const ImageAugmentation& how,
                           uint32_t seed = 1) {
  std::mt19937 generator(seed);
  std::vector<float> output(static_cast<size_t>(how.size()));
  AugmentImage(record, how, &generator, output.data());
  return output;
}

std::vector<float> Plane(const std::vector<float>& output, int plane) {
  const size_t size = output.size() / 3, begin = size * static_cast<size_t>(plane);
  return {output.begin() + static_cast<ptrdiff_t>(begin),
          output.begin() + static_cast<ptrdiff_t>(begin + size)};
}

TEST(ImageAugmentationTest, CutsOutTheCentreInTests) {
  const std::vector<float> output = Augment(Record(5, 6), Plain(5, 2));
  EXPECT_THAT(Plane(output, 0), ElementsAre(200, 200, 200, 200));
  EXPECT_THAT(Plane(output, 1), ElementsAre(100, 100, 100, 100));
  EXPECT_THAT(Plane(output, 2), ElementsAre(12, 13, 22, 23));
}

// Of three rows and three columns around the square, one is before it and two are behind.
TEST(ImageAugmentationTest, TheCentreOfAnOddRestIsNearerToTheBegin) {
  EXPECT_THAT(Plane(Augment(Record(5, 5), Plain(5, 2)), 2), ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(Plane(Augment(Record(3, 4), Plain(3, 3)), 2),
              ElementsAre(0, 1, 2, 10, 11, 12, 20, 21, 22));
  EXPECT_THAT(Plane(Augment(Record(4, 3), Plain(3, 3)), 2),
              ElementsAre(0, 1, 2, 10, 11, 12, 20, 21, 22));
}

// Whatever is asked for in training.
TEST(ImageAugmentationTest, NothingIsDrawnInTests) {
  const std::vector<float> want = Augment(Record(6, 7), Plain(6, 3));
  using Change = void (*)(ImageAugmentation*);
  for (const Change change :
       {Change([](ImageAugmentation* how) { how->mirror = true; }),
        Change([](ImageAugmentation* how) { how->color_jitter = true; }),
        Change([](ImageAugmentation* how) { how->color_lighting = true; }),
        Change([](ImageAugmentation* how) { how->inception_scale_jitter = true; })}) {
    ImageAugmentation how = Plain(6, 3);
    how.saturation = how.brightness = how.contrast = how.color_lighting_std = 0.5f;
    change(&how);
    for (uint32_t seed = 1; seed < 6; ++seed) EXPECT_EQ(Augment(Record(6, 7), how, seed), want);
    how.is_test = false;
    bool differs = false;
    for (uint32_t seed = 1; seed < 6; ++seed) differs |= Augment(Record(6, 7), how, seed) != want;
    EXPECT_TRUE(differs);
  }
}

TEST(ImageAugmentationTest, NormalizesEachChannel) {
  ImageAugmentation how = Plain(1, 1);
  how.mean = {100, 60, 5};
  how.std = {2, 4, 0.5f};
  EXPECT_THAT(Augment(Record(1, 1), how), ElementsAre(50, 10, -10));
}

TEST(ImageAugmentationTest, MakesGreyImagesOfOnePlane) {
  ImageRecord record = Record(1, 1);
  record.image.rgb = {9, 9, 9};
  ImageAugmentation how = Plain(1, 1);
  how.color = false;
  how.mean = {1};
  how.std = {4};
  EXPECT_THAT(Augment(record, how), ElementsAre(2));
}

TEST(ImageAugmentationTest, ScalesTheShorterSide) {
  // 4 x 8 becomes 2 x 4: each pixel is the mean of four.
  const std::vector<float> output = Augment(Record(4, 8), Plain(2, 2));
  // Columns 2 to 5 of rows 0 and 1, and of rows 2 and 3; 7.5 and 27.5 are rounded to even or up.
  EXPECT_THAT(Plane(output, 2), ElementsAre(FloatNear(7.5f, 0.5f), FloatNear(9.5f, 0.5f),
                                            FloatNear(27.5f, 0.5f), FloatNear(29.5f, 0.5f)));
}

TEST(ImageAugmentationTest, WarpsBothSides) {
  ImageAugmentation how = Plain(2, 2);
  how.warp = true;
  const std::vector<float> output = Augment(Record(2, 8), how);
  // Columns 0 to 3 and 4 to 7.
  EXPECT_THAT(Plane(output, 2), ElementsAre(FloatNear(1.5f, 0.5f), FloatNear(5.5f, 0.5f),
                                            FloatNear(11.5f, 0.5f), FloatNear(15.5f, 0.5f)));
}

TEST(ImageAugmentationTest, MinSizeScalesOnlySmallerImages) {
  ImageAugmentation how = Plain(-1, 3);
  how.min_size = 3;
  EXPECT_THAT(Plane(Augment(Record(3, 5), how), 2), ElementsAre(1, 2, 3, 11, 12, 13, 21, 22, 23));
  EXPECT_THAT(Plane(Augment(Record(1, 1), how), 0),
              ElementsAre(200, 200, 200, 200, 200, 200, 200, 200, 200));
}

TEST(ImageAugmentationTest, MinSizeKeepsImagesWithASideOfThatSizeWhenWarping) {
  ImageAugmentation how = Plain(-1, 3);
  how.min_size = 3;
  how.warp = true;
  const std::vector<float> corner = {0, 1, 2, 10, 11, 12, 20, 21, 22};
  EXPECT_EQ(Plane(Augment(Record(4, 3), how), 2), corner);
  EXPECT_EQ(Plane(Augment(Record(3, 4), how), 2), corner);
  // Each side that is smaller is reason enough to resize: a plane of one column, stretched.
  const std::vector<float> stretched = Plane(Augment(Record(3, 1), how), 2);
  EXPECT_EQ(stretched, (std::vector<float>{0, 0, 0, 10, 10, 10, 20, 20, 20}));
  EXPECT_EQ(Plane(Augment(Record(1, 3), how), 2),
            (std::vector<float>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(ImageAugmentationTest, CutsOutTheBoxFirst) {
  ImageRecord record = Record(6, 6);
  record.box = ImageBox{.y = 2, .x = 3, .height = 1, .width = 1};
  EXPECT_THAT(Plane(Augment(record, Plain(1, 1)), 2), ElementsAre(23));
  ImageAugmentation how = Plain(1, 1);
  how.box = ImageBox{.y = 5, .x = 5, .height = 1, .width = 1};
  EXPECT_THAT(Plane(Augment(record, how), 2), ElementsAre(23));  // the record's own box
  record.box.reset();
  EXPECT_THAT(Plane(Augment(record, how), 2), ElementsAre(55));
}

TEST(ImageAugmentationTest, RejectsBoxesOutsideAndImagesBelowTheCrop) {
  for (const ImageBox& box : {ImageBox{-1, 0, 1, 1}, ImageBox{0, 0, 0, 1}, ImageBox{0, 1, 1, 2},
                              ImageBox{1, 0, INT32_MAX, 1}, ImageBox{INT32_MAX, 0, 2, 1}}) {
    ImageRecord record = Record(2, 2);
    record.box = box;
    ExpectThrows([&] { Augment(record, Plain(1, 1)); }, "want one inside an image of 2 x 2");
  }
  // 1 x 1,000,001 after scaling.
  ExpectThrows([&] { Augment(Record(1, 3), Plain(400000, 1)); }, "want at most 1000000");
}

TEST(ImageAugmentationTest, DrawsTheSquareAndTheMirrorInTraining) {
  ImageAugmentation how = Plain(3, 2);
  how.is_test = false;
  how.mirror = true;
  std::set<std::vector<float>> seen;
  for (uint32_t seed = 0; seed < 200; ++seed)
    seen.insert(Plane(Augment(Record(3, 3), how, seed), 2));
  // Four places, each mirrored or not.
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_TRUE(seen.contains({1, 0, 11, 10}));
  EXPECT_TRUE(seen.contains({11, 12, 21, 22}));
  how.mirror = false;
  seen.clear();
  for (uint32_t seed = 0; seed < 200; ++seed)
    seen.insert(Plane(Augment(Record(3, 3), how, seed), 2));
  EXPECT_EQ(seen.size(), 4u);
}

TEST(ImageAugmentationTest, DependsOnTheGeneratorAlone) {
  ImageAugmentation how = Plain(4, 2);
  how.is_test = false;
  how.mirror = how.color_jitter = how.color_lighting = true;
  how.random_scale = {2, 5};
  EXPECT_EQ(Augment(Record(4, 5), how, 7), Augment(Record(4, 5), how, 7));
  EXPECT_NE(Augment(Record(4, 5), how, 7), Augment(Record(4, 5), how, 8));
}

// One colour: 10 red, 20 green, 30 blue; its grey is 0.299 * 10 + 0.587 * 20 + 0.114 * 30 = 18.15.
class ImageColorTest : public ::testing::Test {
 protected:
  ImageColorTest() {
    record_.image = {.width = 1, .height = 1, .rgb = {10, 20, 30}};
    how_ = Plain(1, 1);
    how_.is_test = false;
    how_.color_jitter = true;
    how_.saturation = how_.brightness = how_.contrast = 0;
  }
  // The smallest and the largest of what 500 seeds give for blue.
  std::pair<float, float> RangeOfBlue() {
    std::vector<float> blue;
    for (uint32_t seed = 0; seed < 500; ++seed) blue.push_back(Augment(record_, how_, seed)[0]);
    const auto [least, most] = std::minmax_element(blue.begin(), blue.end());
    return {*least, *most};
  }
  ImageRecord record_;
  ImageAugmentation how_;
};

TEST_F(ImageColorTest, StaysWithoutAChange) {
  const std::vector<float> output = Augment(record_, how_);
  EXPECT_THAT(output,
              ElementsAre(FloatNear(30, 1e-4f), FloatNear(20, 1e-4f), FloatNear(10, 1e-4f)));
}

TEST_F(ImageColorTest, ChangesBrightness) {
  how_.brightness = 0.5f;
  const auto [least, most] = RangeOfBlue();
  EXPECT_GE(least, 15);
  EXPECT_LT(least, 15.5f);
  EXPECT_LE(most, 45);
  EXPECT_GT(most, 44.5f);
}

TEST_F(ImageColorTest, ChangesSaturation) {
  how_.saturation = 0.5f;
  const auto [least, most] = RangeOfBlue();
  // 18.15 + 0.5 * 11.85 and 18.15 + 1.5 * 11.85
  EXPECT_GE(least, 24.074f);
  EXPECT_LT(least, 24.2f);
  EXPECT_LE(most, 35.926f);
  EXPECT_GT(most, 35.8f);
}

TEST_F(ImageColorTest, ChangesContrast) {
  // The mean grey of one colour is its grey, so that the range is that of saturation; of two colours, each moves towards the mean.
  record_.image = {.width = 2, .height = 2, .rgb = {}};
  for (const int value : {0, 0, 100, 100})
    record_.image.rgb.insert(record_.image.rgb.end(), 3, static_cast<uint8_t>(value));
  how_ = Plain(2, 2);
  how_.is_test = false;
  how_.color_jitter = true;
  how_.saturation = how_.brightness = 0;
  how_.contrast = 0.5f;
  const std::vector<float> output = Augment(record_, how_, 3);
  const float spread = output[2] - output[0];
  EXPECT_NE(spread, 100);
  EXPECT_GE(spread, 50);
  EXPECT_LE(spread, 150);
  EXPECT_NEAR(output[0] + output[2], 100, 1e-3);  // the mean stays
}

TEST_F(ImageColorTest, ShiftsColoursAlongTheComponents) {
  how_.color_jitter = false;
  how_.color_lighting = true;
  how_.color_lighting_std = 1;
  // Nearly all of the shift is along the first component: -0.5675, -0.5808, -0.5836 for red, green,
  // blue, times 255 * 0.2175 * a normal number.
  double sum = 0, squares = 0;
  constexpr int kSeeds = 4000;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<float> output = Augment(record_, how_, seed);
    const float first =
        (output[2] - 10) * -0.5675f + (output[1] - 20) * -0.5808f + (output[0] - 30) * -0.5836f;
    sum += first;
    squares += first * first;
  }
  // The vector has length 1. The mean of 4,000 has a standard deviation of 0.88, theirs of 1 %.
  EXPECT_NEAR(sum / kSeeds, 0, 4.5);
  EXPECT_NEAR(std::sqrt(squares / kSeeds), 255 * 0.2175, 255 * 0.2175 * 0.06);
}

TEST_F(ImageColorTest, ChangesNothingInTests) {
  how_.is_test = true;
  how_.color_lighting = true;
  how_.brightness = 0.5f;
  EXPECT_THAT(Augment(record_, how_, 3), ElementsAre(30, 20, 10));
}

TEST(ImageAugmentationTest, JittersTheScale) {
  ImageAugmentation how = Plain(2, 2);
  how.is_test = false;
  how.inception_scale_jitter = true;
  std::set<std::vector<float>> seen;
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> output = Augment(Record(9, 9), how, seed);
    // Averages keep the order of rows and columns.
    const std::vector<float> red = Plane(output, 2);
    EXPECT_LE(red[0], red[1]);
    EXPECT_LE(red[0], red[2]);
    EXPECT_LE(red[1], red[3]);
    seen.insert(red);
  }
  EXPECT_GT(seen.size(), 30u);
  // No part of 8 % or more fits with such sides: it is scaled and cut as usual.
  EXPECT_EQ(Augment(Record(1, 200), how, 1).size(), 12u);
}

}  // namespace
}  // namespace caffe2rt::test::image_augmentation_test
