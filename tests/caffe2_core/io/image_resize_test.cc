#include "caffe2_core/io/image_resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/image.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_resize_test {
namespace {

using ::testing::ElementsAre;

// 5x4 pixels: red is given, green is its complement and blue is 7.
Image Source() {
  Image image{.width = 5, .height = 4, .rgb = {}};
  for (const int red : {10, 250, 60,  0, 77, 5,  240, 1,   200, 255,  //
                        90, 33,  123, 8, 64, 17, 68,  119, 170, 221}) {
    for (const int value : {red, 255 - red, 7}) image.rgb.push_back(static_cast<uint8_t>(value));
  }
  return image;
}

std::vector<int> RedOf(const Image& image) {
  std::vector<int> red;
  for (size_t i = 0; i < image.rgb.size(); i += 3) red.push_back(image.rgb[i]);
  return red;
}

// The results of `library` for the source: shrunk to 3x2, and grown to 7x6.
struct Expected {
  const char* name;
  std::vector<int> small, large;
  int tolerance;
};

class ResizeTest : public ::testing::TestWithParam<Expected> {};

TEST_P(ResizeTest, GivesTheValuesOfTheLibrary) {
  const Expected& want = GetParam();
  Interpolation interpolation;
  ASSERT_TRUE(ParseInterpolation(want.name, &interpolation));
  const auto check = [&](const std::vector<int>& values, int width, int height) {
    const Image image = ResizeImage(Source(), width, height, interpolation);
    ASSERT_EQ(image.width, width);
    ASSERT_EQ(image.height, height);
    const std::vector<int> red = RedOf(image);
    ASSERT_EQ(red.size(), values.size());
    for (size_t i = 0; i < red.size(); ++i) {
      EXPECT_NEAR(red[i], values[i], want.tolerance) << i;
      EXPECT_EQ(image.rgb[i * 3 + 2], 7) << i;
    }
  };
  check(want.small, 3, 2);
  check(want.large, 7, 6);
}

// PIL.Image.resize of Pillow 13.0.
INSTANTIATE_TEST_SUITE_P(
    Pillow, ResizeTest,
    ::testing::Values(Expected{"box",
                               {127, 31, 134, 53, 121, 116},
                               {10, 250, 250, 60,  0,   0,   77,  5,  240, 240, 1,   200, 200, 255,
                                5,  240, 240, 1,   200, 200, 255, 90, 33,  33,  123, 8,   8,   64,
                                17, 68,  68,  119, 170, 170, 221, 17, 68,  68,  119, 170, 170, 221},
                               0},
                      Expected{"bilinear",
                               {103, 91, 124, 60, 98, 135},
                               {10, 147, 196, 60,  17,  33,  77,  8,  143, 184, 31,  80,  129, 166,
                                19, 125, 153, 21,  126, 192, 223, 76, 71,  78,  103, 58,  64,  96,
                                54, 52,  71,  121, 98,  112, 143, 17, 46,  83,  119, 155, 192, 221},
                               0},
                      Expected{"hamming",
                               {96, 72, 137, 54, 105, 127},
                               {10, 169, 229, 60,  7,   26,  77,  8,  165, 222, 31,  93,  123, 166,
                                7,  158, 209, 5,   173, 213, 249, 88, 55,  48,  119, 26,  33,  70,
                                54, 52,  59,  121, 93,  107, 143, 17, 51,  74,  119, 164, 187, 221},
                               0},
                      Expected{"bicubic",
                               {108, 93, 120, 55, 98, 138},
                               {0,  157, 225, 64,  0,   16,  70,  0,  161, 217, 25,  74,  140, 174,
                                12, 140, 174, 12,  135, 221, 241, 86, 65,  69,  108, 41,  43,  83,
                                57, 41,  61,  128, 92,  103, 139, 9,  41,  85,  119, 163, 207, 234},
                               0},
                      Expected{"lanczos",
                               {114, 96, 109, 54, 97, 144},
                               {3,  153, 241, 69,  0,   7,   64,  0,  170, 237, 21,  66,  160, 183,
                                16, 147, 175, 11,  119, 239, 242, 93, 63,  70,  105, 40,  40,  85,
                                61, 32,  59,  134, 89,  90,  133, 4,  43,  92,  115, 166, 221, 243},
                               0}),
    [](const auto& test) { return test.param.name; });

// cv2.resize of OpenCV 5.0, which rounds weights.
INSTANTIATE_TEST_SUITE_P(
    OpenCV, ResizeTest,
    ::testing::Values(Expected{"nearest",
                               {10, 250, 0, 90, 33, 8},
                               {10, 10, 250, 60,  60,  0,   77,  10, 10, 250, 60,  60,  0,   77,
                                5,  5,  240, 1,   1,   200, 255, 90, 90, 33,  123, 123, 8,   64,
                                90, 90, 33,  123, 123, 8,   64,  17, 17, 68,  119, 119, 170, 221},
                               0},
                      Expected{"linear",
                               {87, 31, 144, 52, 121, 124},
                               {10, 147, 196, 60,  17,  33,  77,  8,  143, 184, 31,  80,  128, 166,
                                19, 126, 153, 21,  126, 192, 223, 76, 71,  77,  103, 58,  64,  96,
                                54, 52,  71,  121, 98,  112, 143, 17, 46,  82,  119, 155, 192, 221},
                               1},
                      Expected{"cubic",
                               {97, 19, 169, 46, 132, 104},
                               {0,  169, 232, 65,  0,   7,   68,  0,  179, 224, 19,  74,  156, 189,
                                3,  149, 171, 13,  127, 228, 245, 86, 65,  72,  105, 42,  40,  85,
                                64, 33,  57,  132, 86,  87,  129, 6,  41,  87,  119, 163, 212, 239},
                               1},
                      Expected{"area",
                               {102, 87, 140, 52, 100, 121},
                               {10, 154, 212, 60,  12,  31,  77,  8,  150, 202, 31,  86,  126, 166,
                                5,  146, 192, 1,   160, 222, 255, 90, 56,  51,  123, 31,  30,  64,
                                54, 52,  65,  121, 95,  110, 143, 17, 48,  78,  119, 160, 190, 221},
                               1}),
    [](const auto& test) { return test.param.name; });

TEST(ResizeImageTest, AreaOfWholePixelsIsTheirMean) {
  // Blocks of 2x2: (10 + 250 + 5 + 240) / 4 = 126.25, (60 + 0 + 1 + 200) / 4 = 65.25.
  Image image = Source();
  Image four{.width = 4, .height = 2, .rgb = {}};
  for (size_t y = 0; y < 2; ++y) {
    const auto row = image.rgb.begin() + static_cast<int64_t>(y * 15);
    four.rgb.insert(four.rgb.end(), row, row + 12);
  }
  EXPECT_THAT(RedOf(ResizeImage(four, 2, 1, Interpolation::kArea)), ElementsAre(126, 65));
}

TEST(ResizeImageTest, EqualSizesChangeNothing) {
  for (const std::string& name : InterpolationNames()) {
    Interpolation interpolation;
    ASSERT_TRUE(ParseInterpolation(name, &interpolation));
    EXPECT_EQ(ResizeImage(Source(), 5, 4, interpolation).rgb, Source().rgb) << name;
  }
}

TEST(ResizeImageTest, AnEqualColourStaysForEverySize) {
  Image image{.width = 3, .height = 3, .rgb = std::vector<uint8_t>(27, 201)};
  for (const std::string& name : InterpolationNames()) {
    Interpolation interpolation;
    ASSERT_TRUE(ParseInterpolation(name, &interpolation));
    for (const int side : {1, 2, 4, 50}) {
      EXPECT_THAT(ResizeImage(image, side, 7, interpolation).rgb, ::testing::Each(201)) << name;
    }
  }
}

TEST(ResizeImageTest, UnknownNamesAreNoInterpolation) {
  Interpolation interpolation;
  EXPECT_FALSE(ParseInterpolation("trilinear", &interpolation));
  ExpectThrows([] { ResizeImage(Source(), 0, 3); }, "cannot resize an image of 5x4 pixels to 0x3");
}

}  // namespace
}  // namespace caffe2rt::test::image_resize_test
