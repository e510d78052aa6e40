// Images resized, cropped and made into tensors, for many odd sizes, against the definitions
// written down pixel by pixel.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/image_resize.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::image_sizes_test {
namespace {

// Values that differ from pixel to pixel and from channel to channel.
Image Patterned(int width, int height) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int i = 0; i < width * height * 3; ++i)
    image.rgb.push_back(static_cast<uint8_t>((i * 89 + i / 7 * 31) % 256));
  return image;
}

double Keys(double x, double a) {
  x = std::abs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}
double SincOf(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

// Pillow's filters at a distance from their centre.
double PillowFilter(const std::string& name, double x) {
  if (name == "box") return x > -0.5 && x <= 0.5 ? 1 : 0;
  if (name == "bilinear") return std::max(0.0, 1 - std::abs(x));
  if (name == "hamming")
    return std::abs(x) < 1 ? SincOf(x) * (0.54 + 0.46 * std::cos(M_PI * x)) : 0;
  if (name == "bicubic") return Keys(x, -0.5);
  return std::abs(x) < 3 ? SincOf(x) * SincOf(x / 3) : 0;
}

// The weight of input pixel `x` for output pixel `i` along an axis. `shrinks`: no side of the image
// grows.
std::vector<double> WeightsOf(const std::string& name, int from, int to, int i, bool shrinks) {
  const double ratio = static_cast<double>(from) / to;
  std::vector<double> weights(static_cast<size_t>(from));
  const auto add = [&](int x, double weight) {
    weights[static_cast<size_t>(std::clamp(x, 0, from - 1))] += weight;
  };
  if (name == "nearest") {
    add(i * from / to, 1);
  } else if (name == "linear") {
    const double at = std::clamp((i + 0.5) * ratio - 0.5, 0.0, from - 1.0);
    for (int x = 0; x < from; ++x) add(x, std::max(0.0, 1 - std::abs(x - at)));
  } else if (name == "cubic") {
    const double at = (i + 0.5) * ratio - 0.5;
    for (int x = -3; x < from + 3; ++x) add(x, Keys(x - at, -0.75));
  } else if (name == "area" && shrinks) {
    for (int x = 0; x < from; ++x)
      add(x, std::max(0.0, std::min(x + 1.0, (i + 1) * ratio) - std::max<double>(x, i * ratio)) /
                 ratio);
  } else if (name == "area") {
    // The part of the output pixel that lies behind the border of two input pixels.
    const int low = i * from / to;
    const double behind = i + 1 - (low + 1) / ratio;
    const double right = behind <= 0 ? 0 : behind - std::floor(behind);
    add(low, 1 - right);
    add(low + 1, right);
  } else {
    const double shrink = std::max(1.0, ratio), centre = (i + 0.5) * ratio;
    double sum = 0;
    for (int x = 0; x < from; ++x) {
      weights[static_cast<size_t>(x)] = PillowFilter(name, (x + 0.5 - centre) / shrink);
      sum += weights[static_cast<size_t>(x)];
    }
    for (double& weight : weights) weight /= sum;
  }
  return weights;
}

double ToByte(double value) { return std::clamp(std::floor(value + 0.5), 0.0, 255.0); }

// Columns first. Pillow rounds what is between the two directions, OpenCV does not.
std::vector<double> ResizedPixels(const Image& image, int width, int height,
                                  const std::string& name, std::vector<bool>* next_to_half) {
  const bool shrinks = width <= image.width && height <= image.height;
  const bool rounds = name == "box" || name == "bilinear" || name == "hamming" ||
                      name == "bicubic" || name == "lanczos";
  std::vector<double> wide(static_cast<size_t>(width * image.height * 3)), all;
  for (int x = 0; x < width; ++x) {
    const std::vector<double> weights = WeightsOf(name, image.width, width, x, shrinks);
    for (int y = 0; y < image.height; ++y) {
      for (int c = 0; c < 3; ++c) {
        double sum = 0;
        for (int k = 0; k < image.width; ++k)
          sum += weights[static_cast<size_t>(k)] *
                 image.rgb[static_cast<size_t>((y * image.width + k) * 3 + c)];
        wide[static_cast<size_t>((y * width + x) * 3 + c)] = rounds ? ToByte(sum) : sum;
      }
    }
  }
  for (int y = 0; y < height; ++y) {
    const std::vector<double> weights = WeightsOf(name, image.height, height, y, shrinks);
    for (int i = 0; i < width * 3; ++i) {
      double sum = 0;
      for (int k = 0; k < image.height; ++k)
        sum += weights[static_cast<size_t>(k)] * wide[static_cast<size_t>(k * width * 3 + i)];
      all.push_back(ToByte(sum));
      next_to_half->push_back(std::abs(sum - std::floor(sum) - 0.5) < 1e-9);
    }
  }
  return all;
}

TEST(ImageSizesTest, EveryInterpolationIsThatOfItsDefinition) {
  constexpr int kFrom[] = {1, 2, 3, 5, 8}, kTo[] = {1, 2, 3, 4, 7, 9};
  for (const std::string& name : InterpolationNames()) {
    Interpolation interpolation;
    ASSERT_TRUE(ParseInterpolation(name, &interpolation));
    for (int pair = 0; pair < 30; ++pair) {
      const int width = kFrom[pair % 5], to_width = kTo[pair % 6];
      const int height = kFrom[(pair / 5 + pair) % 5], to_height = kTo[(pair / 6 + pair * 5) % 6];
      if (width == to_width && height == to_height) continue;
      SCOPED_TRACE(MakeString(name, ": ", width, "x", height, " to ", to_width, "x", to_height));
      const Image image = Patterned(width, height);
      const Image got = ResizeImage(image, to_width, to_height, interpolation);
      ASSERT_EQ(got.width, to_width);
      ASSERT_EQ(got.height, to_height);
      std::vector<bool> next_to_half;
      const std::vector<double> want =
          ResizedPixels(image, to_width, to_height, name, &next_to_half);
      ASSERT_EQ(got.rgb.size(), want.size());
      // Where both compute in double, only sums next to a half may be rounded in either direction.
      const bool exact = name == "nearest" || name == "cubic" || name == "area";
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got.rgb[i], want[i], exact && !next_to_half[i] ? 0 : 1) << i;
      }
    }
  }
}

// Pillow's weights are integers: 2^22 times the weight, rounded to the nearest, and away from 0 from a
// half on. Each sum begins with a half, so that its shift rounds.
TEST(ImageSizesTest, WeightsOfPillowAreRoundedToTheNearestInteger) {
  constexpr int kFrom = 40;
  uint32_t state = 7;
  for (const std::string name : {"bicubic", "lanczos"}) {
    Interpolation interpolation;
    ASSERT_TRUE(ParseInterpolation(name, &interpolation));
    for (const int to : {80, 50, 23}) {
      std::vector<std::vector<int64_t>> weights;
      for (int i = 0; i < to; ++i) {
        std::vector<int64_t>& fixed = weights.emplace_back();
        for (const double weight : WeightsOf(name, kFrom, to, i, false))
          fixed.push_back(std::llround(weight * (1 << 22)));
      }
      Image image{.width = kFrom, .height = 40, .rgb = {}};
      for (int i = 0; i < kFrom * 40 * 3; ++i)
        image.rgb.push_back(static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24));
      const Image got = ResizeImage(image, to, 40, interpolation);
      for (int i = 0; i < 40 * to * 3; ++i) {
        const int y = i / (to * 3), x = i / 3 % to, c = i % 3;
        int64_t sum = 1 << 21;
        for (int k = 0; k < kFrom; ++k) {
          sum += weights[static_cast<size_t>(x)][static_cast<size_t>(k)] *
                 image.rgb[static_cast<size_t>((y * kFrom + k) * 3 + c)];
        }
        ASSERT_EQ(got.rgb[static_cast<size_t>(i)], std::clamp<int64_t>(sum >> 22, 0, 255))
            << name << " to " << to << ": " << x << ", " << y;
      }
    }
  }
}

TEST(ImageSizesTest, CropsAreInTheMiddleRoundedUpAndLeft) {
  for (int width = 1; width <= 5; ++width) {
    for (int height = 1; height <= 4; ++height) {
      const Image image = Patterned(width, height);
      for (int w = 1; w <= width; ++w) {
        for (int h = 1; h <= height; ++h) {
          const Image got = ResizedAndCropped(image, {.crop_to = {.width = w, .height = h}});
          ASSERT_EQ(got.width, w);
          ASSERT_EQ(got.height, h);
          for (int i = 0; i < w * h * 3; ++i) {
            const int y = i / (w * 3) + (height - h) / 2, x = i % (w * 3) + (width - w) / 2 * 3;
            ASSERT_EQ(got.rgb[static_cast<size_t>(i)],
                      image.rgb[static_cast<size_t>(y * width * 3 + x)]);
          }
          if (w == h) EXPECT_EQ(ResizedAndCropped(image, {.crop = w}).rgb, got.rgb);
        }
      }
    }
  }
  ExpectThrows([] { ResizedAndCropped(Patterned(3, 2), {.crop = 3}); },
               "an image of 3x2 pixels is smaller than the crop of 3x3; resize it first");
  ExpectThrows([] { ResizedAndCropped(Patterned(2, 3), {.crop = 3}); },
               "an image of 2x3 pixels is smaller than the crop of 3x3; resize it first");
}

TEST(ImageSizesTest, TheShorterSideGetsItsSizeAndTheOtherFollows) {
  const struct {
    int width, height, side, want_width, want_height;
  } rows[] = {
      {5, 3, 4, 7, 4},   {3, 5, 4, 4, 7}, {7, 7, 3, 3, 3},    {10, 4, 5, 13, 5},
      {4, 10, 5, 5, 13}, {9, 8, 1, 1, 1}, {100, 3, 1, 33, 1}, {1, 1000, 1000, 1000, 1000000}};
  for (const auto& row : rows) {
    int width = 0, height = 0;
    ResizedSize(Patterned(row.width, row.height), row.side, &width, &height);
    EXPECT_EQ(width, row.want_width) << row.width << "x" << row.height;
    EXPECT_EQ(height, row.want_height) << row.width << "x" << row.height;
  }
  ExpectThrows(
      [] {
        int width, height;
        ResizedSize(Patterned(1, 1000), 1001, &width, &height);
      },
      "an image of 1x1000 pixels resized to a shorter side of 1001 would be too long, want at most "
      "1000000 pixels");
  int side;
  ExpectThrows([&] { ResizedSize(Patterned(1, 1), 1, nullptr, &side); },
               "argument width or height of ResizedSize is null");
  ExpectThrows([&] { ResizedSize(Patterned(1, 1), 1, &side, nullptr); },
               "argument width or height of ResizedSize is null");
  // Resizing comes before cropping: 8x6 becomes 4x3, and then 3x3.
  const Image image = Patterned(8, 6);
  const Image got = ResizedAndCropped(image, {.resize = 3, .crop = 3});
  const Image small = ResizeImage(image, 4, 3, ImageTransform{}.interpolation);
  ASSERT_EQ(got.width, 3);
  ASSERT_EQ(got.height, 3);
  for (int i = 0; i < 27; ++i)
    EXPECT_EQ(got.rgb[static_cast<size_t>(i)], small.rgb[static_cast<size_t>(i / 9 * 12 + i % 9)]);
  const Image nearest = ResizedAndCropped(
      image, {.resize_to = {.width = 5, .height = 2}, .interpolation = Interpolation::kNearest});
  EXPECT_EQ(nearest.rgb, ResizeImage(image, 5, 2, Interpolation::kNearest).rgb);
}

TEST(ImageSizesTest, SizesThatContradictEachOtherAreNamed) {
  const auto message = [](const ImageTransform& transform) {
    std::string text;
    try {
      ResizedAndCropped(Patterned(4, 4), transform);
    } catch (const EnforceNotMet& error) {
      text = error.message();
    }
    return text;
  };
  EXPECT_EQ(message({.resize = -1}), "resize of an image is -1 or 0x0, want at least 0");
  EXPECT_EQ(message({.resize_to = {.width = -2, .height = 3}}),
            "resize of an image is 0 or -2x3, want at least 0");
  EXPECT_EQ(message({.resize_to = {.width = 3, .height = 0}}),
            "resize of an image is 3x0, want two sides");
  EXPECT_EQ(message({.crop_to = {.width = 0, .height = 2}}),
            "crop of an image is 0x2, want two sides");
  EXPECT_EQ(message({.resize = 2, .resize_to = {.width = 3, .height = 3}}),
            "resize of an image is set to both 2 and 3x3");
  EXPECT_EQ(message({.crop = -3}), "crop of an image is -3 or 0x0, want at least 0");
  EXPECT_EQ(message({.resize = 2, .crop_to = {.width = 1, .height = 2}}), "");
}

TEST(ImageSizesTest, TensorsHaveThePlanesOfTheirOrder) {
  const Image image = Patterned(3, 2);
  for (const bool bgr : {false, true}) {
    const Tensor tensor =
        ImageToTensor(image, {.mean = {1, 20, 40}, .scale = {2}, .std = {4, 5, 8}, .bgr = bgr});
    ASSERT_EQ(tensor.dims(), (std::vector<int64_t>{1, 3, 2, 3}));
    const float means[] = {1, 20, 40}, stds[] = {4, 5, 8};
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 6; ++i) {
        const int value = image.rgb[static_cast<size_t>(i * 3 + (bgr ? 2 - c : c))];
        EXPECT_FLOAT_EQ(tensor.data<float>()[c * 6 + i],
                        (static_cast<float>(value) - means[c]) * 2 / stds[c]);
      }
    }
    const Tensor grey =
        ImageToTensor(image, {.mean = {3}, .scale = {0.5f}, .bgr = bgr, .grey = true});
    ASSERT_EQ(grey.dims(), (std::vector<int64_t>{1, 1, 2, 3}));
    for (size_t i = 0; i < 6; ++i) {
      const uint8_t* const rgb = image.rgb.data() + i * 3;
      const double luma = std::floor(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] + 0.5 + 1e-9);
      EXPECT_FLOAT_EQ(grey.data<float>()[i], static_cast<float>(luma - 3) / 2);
    }
  }
  ExpectThrows(
      [&] {
        ImageToTensor(image, {.mean = {1, 2, 3}, .grey = true});
      },
      "mean has 3 values, want 1: the image is grey");
  ExpectThrows([&] { ImageToTensor(image, {.scale = {1, 2}}); }, "scale has 2 values, want 1 or 3");
  ExpectThrows([&] { ImageToTensor(image, {.mean = {}}); }, "mean has 0 values, want 1 or 3");
  ExpectThrows(
      [&] {
        ImageToTensor(image, {.std = {1, 0, 1}});
      },
      "std, by which pixels are divided");
}

template <class T>
Tensor ShownTensor(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Tensor tensor(dims, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}
using Bytes = std::vector<uint8_t>;

TEST(ImageSizesTest, TensorsAreShownByTheirShape) {
  const Image packed =
      TensorToImage(ShownTensor<uint8_t>({1, 2, 1, 4}, {1, 2, 3, 99, 4, 5, 6, 99}));
  EXPECT_EQ(packed.width, 1);
  EXPECT_EQ(packed.height, 2);
  EXPECT_EQ(packed.rgb, (Bytes{3, 2, 1, 6, 5, 4}));  // blue first
  const Tensor bgra = ShownTensor<uint8_t>({1, 2, 1, 4}, {1, 2, 3, 99, 4, 5, 6, 99});
  EXPECT_EQ(TensorToImage(bgra, true).rgb, packed.rgb);  // it is so already
  const Tensor grey = ShownTensor<uint8_t>({1, 1, 1, 2}, {5, 9});
  EXPECT_EQ(TensorToImage(grey, true).rgb, (Bytes{5, 5, 5, 9, 9, 9}));
  // Planes of bytes, with and without the first dimension.
  for (const auto& dims : {std::vector<int64_t>{1, 3, 1, 2}, {3, 1, 2}}) {
    const Tensor planes = ShownTensor<uint8_t>(dims, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(TensorToImage(planes).rgb, (Bytes{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(TensorToImage(planes, true).rgb, (Bytes{5, 3, 1, 6, 4, 2}));
  }
  // Rows of four floats are not pixels.
  const Image wide = TensorToImage(ShownTensor<float>({1, 1, 1, 4}, {10, 20, 30, 40}));
  EXPECT_EQ(wide.width, 4);
  EXPECT_EQ(wide.rgb, (Bytes{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40}));
  const Image three = TensorToImage(ShownTensor<uint8_t>({3, 1, 4}, Bytes(12, 9)));
  EXPECT_EQ(three.width, 4);
  EXPECT_EQ(three.height, 1);
  EXPECT_EQ(TensorToImage(ShownTensor<float>({2, 1}, {7, 8})).height, 2);
  EXPECT_EQ(TensorToImage(ShownTensor<float>({1, 2, 1}, {7, 8})).height, 2);
  for (const auto& dims :
       {std::vector<int64_t>{2, 1, 1}, {4, 1, 1}, {1, 1, 1, 1, 1}, {2, 1, 1, 1}}) {
    const Tensor tensor = ShownTensor<float>(dims, {});
    ExpectThrows([&] { TensorToImage(tensor); }, "as an image, want float or uint8");
  }
}

// Values from -0.5 to 1.5 are fractions of 255, whatever they are otherwise.
TEST(ImageSizesTest, FractionsAreKnownFromBytesByTheirRange) {
  const auto shown = [](const std::vector<float>& values) {
    const Image image =
        TensorToImage(ShownTensor<float>({1, static_cast<int64_t>(values.size())}, values));
    std::vector<int> bytes;
    for (size_t i = 0; i < image.rgb.size(); i += 3) bytes.push_back(image.rgb[i]);
    return bytes;
  };
  using Ints = std::vector<int>;
  EXPECT_EQ(shown({0, 0.5f, 1}), (Ints{0, 128, 255}));  // 127.5 is rounded up
  EXPECT_EQ(shown({-0.5f, 1.5f, 0.1f}), (Ints{0, 255, 26}));
  EXPECT_EQ(shown({-0.51f, 1, 0}), (Ints{0, 1, 0}));
  EXPECT_EQ(shown({0, 1.51f, 1}), (Ints{0, 2, 1}));
  EXPECT_EQ(shown({254.5f, 254.4f, 255.6f, -3, 1e9f}), (Ints{255, 254, 255, 0, 255}));
  EXPECT_EQ(shown({NAN, 1}), (Ints{0, 255}));
  EXPECT_EQ(shown({INFINITY, -INFINITY, 5}), (Ints{255, 0, 5}));
}

}  // namespace
}  // namespace caffe2rt::test::image_sizes_test
