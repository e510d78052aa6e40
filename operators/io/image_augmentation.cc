#include "operators/io/image_augmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/image_resize.h"

namespace caffe2rt {
namespace {

constexpr int kMaxSide = 1000000;

// In [0, 1).
float Uniform(std::mt19937* generator) {
  return static_cast<float>((*generator)() >> 8) * 0x1p-24f;
}
float Between(float low, float high, std::mt19937* generator) {
  return low + (high - low) * Uniform(generator);
}
// From 0 to `last`.
int UpTo(int last, std::mt19937* generator) {
  return static_cast<int>(
      static_cast<uint64_t>((*generator)()) * (static_cast<uint64_t>(last) + 1) >> 32);
}
float Normal(float std, std::mt19937* generator) {
  const float radius = std::sqrt(-2 * std::log(1 - Uniform(generator)));
  return std * radius * std::cos(6.2831853f * Uniform(generator));
}

Image CutOut(const Image& image, const ImageBox& box) {
  CAFFE_ENFORCE(box.y >= 0 && box.x >= 0 && box.height >= 1 && box.width >= 1 &&
                    box.height <= image.height - box.y && box.width <= image.width - box.x,
                "box of ", box.height, " x ", box.width, " pixels at row ", box.y, ", column ",
                box.x, ", want one inside an image of ", image.height, " x ", image.width);
  Image part{.width = box.width, .height = box.height, .rgb = {}};
  part.rgb.reserve(static_cast<size_t>(box.height) * static_cast<size_t>(box.width) * 3);
  for (int y = 0; y < box.height; ++y) {
    const auto* const row =
        image.rgb.data() + 3 * (static_cast<size_t>(box.y + y) * static_cast<size_t>(image.width) +
                                static_cast<size_t>(box.x));
    part.rgb.insert(part.rgb.end(), row, row + 3 * static_cast<size_t>(box.width));
  }
  return part;
}

// Tries ten times. Returns false if no part fits.
bool JitterScale(int crop, std::mt19937* generator, Image* image) {
  constexpr int kTries = 10;
  const float area = static_cast<float>(image->height) * static_cast<float>(image->width);
  for (int i = 0; i < kTries; ++i) {
    const float part = Between(0.08f, 1, generator) * area;
    const float ratio = Between(3.0f / 4, 4.0f / 3, generator);
    const int height = static_cast<int>(std::sqrt(part / ratio));
    const int width = static_cast<int>(std::sqrt(part * ratio));
    if (height < 1 || width < 1 || height > image->height || width > image->width) continue;
    const ImageBox box = {UpTo(image->height - height, generator),
                          UpTo(image->width - width, generator), height, width};
    *image = ResizeImage(CutOut(*image, box), crop, crop, Interpolation::kArea);
    return true;
  }
  return false;
}

void Scale(const ImageAugmentation& how, std::mt19937* generator, Image* image) {
  int side = how.scale > 0 ? how.scale : how.min_size;
  if (!how.random_scale.empty()) {
    side = how.random_scale[0] + UpTo(how.random_scale[1] - how.random_scale[0], generator);
  }
  int64_t height = side, width = side;
  if (!how.warp && image->height > image->width) {
    height = static_cast<int64_t>(static_cast<float>(image->height) * static_cast<float>(side) /
                                  static_cast<float>(image->width));
  } else if (!how.warp) {
    width = static_cast<int64_t>(static_cast<float>(image->width) * static_cast<float>(side) /
                                 static_cast<float>(image->height));
  }
  const bool only_larger = how.scale <= 0 && how.random_scale.empty();
  if (only_larger && height <= image->height && width <= image->width) return;
  CAFFE_ENFORCE(height <= kMaxSide && width <= kMaxSide, "image of ", image->height, " x ",
                image->width, " pixels becomes ", height, " x ", width, ", want at most ", kMaxSide,
                " each");
  *image =
      ResizeImage(*image, static_cast<int>(width), static_cast<int>(height), Interpolation::kArea);
}

// Writes the planes blue, green and red of the square at (top, left), or one plane.
void CopySquare(const Image& image, const ImageAugmentation& how, int top, int left, bool mirrored,
                float* output) {
  for (int c = 0; c < how.channels(); ++c) {
    for (int y = 0; y < how.crop; ++y) {
      const uint8_t* const row =
          image.rgb.data() + 3 * (static_cast<size_t>(top + y) * static_cast<size_t>(image.width) +
                                  static_cast<size_t>(left));
      for (int x = 0; x < how.crop; ++x)
        *output++ = row[3 * (mirrored ? how.crop - 1 - x : x) + 2 - c];
    }
  }
}

// The three planes of a colour image in floats.
struct Planes {
  float* blue;
  float* green;
  float* red;
  int64_t pixels;

  float Grey(int64_t i) const { return 0.114f * blue[i] + 0.587f * green[i] + 0.299f * red[i]; }
  // Each element becomes alpha * element + (1 - alpha) * other(i).
  template <class Other>
  void Blend(float alpha, Other other) const {
    for (int64_t i = 0; i < pixels; ++i) {
      const float rest = (1 - alpha) * other(i);
      for (float* const plane : {blue, green, red}) plane[i] = alpha * plane[i] + rest;
    }
  }
};

float AlphaAround1(float spread, std::mt19937* generator) {
  return 1 + Between(-spread, spread, generator);
}

void ChangeSaturation(const Planes& planes, float alpha) {
  planes.Blend(alpha, [&](int64_t i) { return planes.Grey(i); });
}

void ChangeBrightness(const Planes& planes, float alpha) {
  planes.Blend(alpha, [](int64_t) { return 0.0f; });
}

void ChangeContrast(const Planes& planes, float alpha) {
  double sum = 0;
  for (int64_t i = 0; i < planes.pixels; ++i) sum += planes.Grey(i);
  const auto mean = static_cast<float>(sum / static_cast<double>(planes.pixels));
  planes.Blend(alpha, [&](int64_t) { return mean; });
}

void JitterColor(const Planes& planes, const ImageAugmentation& how, std::mt19937* generator) {
  std::array<int, 3> order = {0, 1, 2};
  for (int i = 2; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(UpTo(i, generator))]);
  for (const int step : order) {
    if (step == 0) ChangeSaturation(planes, AlphaAround1(how.saturation, generator));
    if (step == 1) ChangeBrightness(planes, AlphaAround1(how.brightness, generator));
    if (step == 2) ChangeContrast(planes, AlphaAround1(how.contrast, generator));
  }
}

void ChangeLighting(const Planes& planes, float std, std::mt19937* generator) {
  // The principal components of the colours of ImageNet's images, as Facebook's ResNet training
  // published them: rows red, green, blue; for values from 0 to 1.
  constexpr float kVectors[3][3] = {
      {-0.5675f, 0.7192f, 0.4009f}, {-0.5808f, -0.0045f, -0.8140f}, {-0.5836f, -0.6948f, 0.4203f}};
  constexpr float kValues[3] = {0.2175f, 0.0188f, 0.0045f};
  float alphas[3];
  for (float& alpha : alphas) alpha = Normal(std, generator);
  float* const of_row[3] = {planes.red, planes.green, planes.blue};
  for (int row = 0; row < 3; ++row) {
    float shift = 0;
    for (int k = 0; k < 3; ++k) shift += 255 * kVectors[row][k] * kValues[k] * alphas[k];
    for (int64_t i = 0; i < planes.pixels; ++i) of_row[row][i] += shift;
  }
}

void Normalize(const ImageAugmentation& how, float* output) {
  const int64_t pixels = int64_t{how.crop} * how.crop;
  for (size_t c = 0; c < static_cast<size_t>(how.channels()); ++c) {
    const float mean = how.mean[c], factor = 1 / how.std[c];
    for (int64_t i = 0; i < pixels; ++i, ++output) *output = (*output - mean) * factor;
  }
}

}  // namespace

void AugmentImage(const ImageRecord& record, const ImageAugmentation& how, std::mt19937* generator,
                  float* output) {
  const std::optional<ImageBox>& box = record.box ? record.box : how.box;
  Image image = box ? CutOut(record.image, *box) : record.image;
  if (how.is_test || !how.inception_scale_jitter || !JitterScale(how.crop, generator, &image)) {
    Scale(how, generator, &image);
  }
  const int rows = image.height - how.crop, columns = image.width - how.crop;
  CAFFE_ENFORCE(rows >= 0 && columns >= 0, "image has ", image.height, " x ", image.width,
                " pixels after scaling, want at least ", how.crop,
                ", the argument crop; scale or minsize makes it larger");
  const int top = how.is_test ? rows / 2 : UpTo(rows, generator);
  const int left = how.is_test ? columns / 2 : UpTo(columns, generator);
  const bool mirrored = how.mirror && !how.is_test && UpTo(1, generator) == 1;
  CopySquare(image, how, top, left, mirrored, output);
  const int64_t pixels = int64_t{how.crop} * how.crop;
  const Planes planes = {output, output + pixels, output + 2 * pixels, pixels};
  if (how.color && how.color_jitter && !how.is_test) JitterColor(planes, how, generator);
  if (how.color && how.color_lighting && !how.is_test)
    ChangeLighting(planes, how.color_lighting_std, generator);
  Normalize(how, output);
}

}  // namespace caffe2rt
