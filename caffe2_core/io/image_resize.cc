#include "caffe2_core/io/image_resize.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/image.h"

namespace caffe2rt {
namespace {

constexpr const char* kNames[] = {"nearest",  "linear",  "cubic",   "area",   "box",
                                  "bilinear", "hamming", "bicubic", "lanczos"};

// One output pixel along one axis: the weighted sum of input pixels first, first + 1, ...
struct Taps {
  int first = 0;
  std::vector<double> weights;
};

// --- Pillow: a filter over [-support, support], scaled by the shrink factor.

struct Filter {
  double support;
  double (*value)(double x);
};

double Sinc(double x) { return x == 0 ? 1 : std::sin(x * M_PI) / (x * M_PI); }

double BoxFilter(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }
double BilinearFilter(double x) { return std::max(0.0, 1 - std::abs(x)); }
double HammingFilter(double x) {
  return std::abs(x) >= 1 ? 0 : Sinc(x) * (0.54 + 0.46 * std::cos(x * M_PI));
}
// The cubic convolution of Keys (1981) with parameter `a`.
double Cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}
double BicubicFilter(double x) { return Cubic(x, -0.5); }
double LanczosFilter(double x) { return x >= -3 && x < 3 ? Sinc(x) * Sinc(x / 3) : 0; }

// In the order of the enumeration, from kBox.
constexpr Filter kFilters[] = {{0.5, BoxFilter},
                               {1, BilinearFilter},
                               {1, HammingFilter},
                               {2, BicubicFilter},
                               {3, LanczosFilter}};

std::vector<Taps> FilterTaps(int from, int to, const Filter& filter) {
  const double ratio = static_cast<double>(from) / to, shrink = std::max(1.0, ratio);
  const double support = filter.support * shrink;
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * ratio;
    Taps& taps = all[static_cast<size_t>(i)];
    taps.first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int end = std::min(from, static_cast<int>(centre + support + 0.5));
    double sum = 0;
    for (int x = taps.first; x < end; ++x) {
      taps.weights.push_back(filter.value((x - centre + 0.5) / shrink));
      sum += taps.weights.back();
    }
    for (double& weight : taps.weights) weight = sum == 0 ? weight : weight / sum;
  }
  return all;
}

// --- OpenCV.

std::vector<Taps> NearestTaps(int from, int to) {
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const int x = static_cast<int>(std::floor(i * (static_cast<double>(from) / to)));
    all[static_cast<size_t>(i)] = {std::min(x, from - 1), {1}};
  }
  return all;
}

std::vector<Taps> CubicTaps(int from, int to) {
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double at = (i + 0.5) * (static_cast<double>(from) / to) - 0.5;
    const int low = static_cast<int>(std::floor(at));
    Taps& taps = all[static_cast<size_t>(i)];
    taps.first = std::clamp(low - 1, 0, from - 1);
    for (int x = low - 1; x <= low + 2; ++x) {  // beyond the edge, the pixel at the edge repeats
      const auto tap = static_cast<size_t>(std::clamp(x, 0, from - 1) - taps.first);
      taps.weights.resize(std::max(taps.weights.size(), tap + 1));
      taps.weights[tap] += Cubic(x - at, -0.75);
    }
  }
  return all;
}

// The parts of the pixels that [i, i + 1) * from / to covers.
std::vector<Taps> CoveredTaps(int from, int to) {
  const double ratio = static_cast<double>(from) / to;
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double begin = i * ratio, end = std::min<double>((i + 1) * ratio, from);
    Taps& taps = all[static_cast<size_t>(i)];
    taps.first = std::min(static_cast<int>(begin), from - 1);
    for (int x = taps.first; x < end; ++x) {
      const double covered = std::min<double>(x + 1, end) - std::max<double>(x, begin);
      taps.weights.push_back(std::max(0.0, covered) / (end - begin));
    }
  }
  return all;
}

// OpenCV's area interpolation of an image that grows in a direction: two pixels, of which the right
// one has a weight only where the output pixel crosses the border between them.
std::vector<Taps> GrowingAreaTaps(int from, int to) {
  const double ratio = static_cast<double>(from) / to;
  std::vector<Taps> all(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const int low = static_cast<int>(std::floor(i * ratio));
    double weight = (i + 1) - (low + 1) / ratio;
    weight = weight <= 0 ? 0 : weight - std::floor(weight);
    const bool at_edge = low >= from - 1;
    all[static_cast<size_t>(i)] = at_edge ? Taps{from - 1, {1}} : Taps{low, {1 - weight, weight}};
  }
  return all;
}

// --- Two passes over the pixels.

uint8_t Rounded(double value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

constexpr int kWeightBits = 22;  // Pillow's weights are integers with 22 bits behind the point
std::vector<int> FixedWeights(const std::vector<double>& weights) {
  std::vector<int> fixed;
  for (const double weight : weights) {
    fixed.push_back(static_cast<int>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits)));
  }
  return fixed;
}

// Computes out[i] = the weighted sum over taps[i] of `count` values each. The values of one pixel
// are `step` apart from those of the next one.
void FixedPass(const uint8_t* from, const Taps& taps, const std::vector<int>& weights, size_t step,
               size_t count, uint8_t* to) {
  from += static_cast<size_t>(taps.first) * step;
  for (size_t c = 0; c < count; ++c) {
    int sum = 1 << (kWeightBits - 1);
    for (size_t k = 0; k < weights.size(); ++k) sum += from[k * step + c] * weights[k];
    to[c] = static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
  }
}

template <class T>
std::vector<T> Pixels(int width, int height) {
  return std::vector<T>(
      static_cast<size_t>(CheckedProduct(std::vector<int64_t>{width, height, 3})));
}

Image ResizeFixed(const Image& image, int width, int height, const Filter& filter) {
  Image wide{.width = width, .height = image.height, .rgb = {}};
  const size_t from_stride = static_cast<size_t>(image.width) * 3;
  const size_t stride = static_cast<size_t>(width) * 3;
  if (width != image.width) {
    wide.rgb = Pixels<uint8_t>(width, image.height);
    const std::vector<Taps> columns = FilterTaps(image.width, width, filter);
    for (size_t x = 0; x < columns.size(); ++x) {
      const std::vector<int> weights = FixedWeights(columns[x].weights);
      for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
        FixedPass(image.rgb.data() + y * from_stride, columns[x], weights, 3, 3,
                  wide.rgb.data() + y * stride + x * 3);
      }
    }
  }
  if (height == image.height) return wide;
  const Image& source = width != image.width ? wide : image;
  Image out{.width = width, .height = height, .rgb = Pixels<uint8_t>(width, height)};
  const std::vector<Taps> rows = FilterTaps(image.height, height, filter);
  for (size_t y = 0; y < rows.size(); ++y) {
    FixedPass(source.rgb.data(), rows[y], FixedWeights(rows[y].weights), stride, stride,
              out.rgb.data() + y * stride);
  }
  return out;
}

// One rounding at the end, as OpenCV does.
Image ResizeExactly(const Image& image, const std::vector<Taps>& columns,
                    const std::vector<Taps>& rows) {
  const int width = static_cast<int>(columns.size()), height = static_cast<int>(rows.size());
  Image out{.width = width, .height = height, .rgb = Pixels<uint8_t>(width, height)};
  const size_t from_stride = static_cast<size_t>(image.width) * 3;
  uint8_t* to = out.rgb.data();
  std::vector<double> row(from_stride);  // the weighted sum of input rows
  for (const Taps& taps : rows) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      const uint8_t* const from =
          image.rgb.data() + (static_cast<size_t>(taps.first) + k) * from_stride;
      for (size_t x = 0; x < from_stride; ++x) row[x] += taps.weights[k] * from[x];
    }
    for (const Taps& column : columns) {
      const double* const from = row.data() + static_cast<size_t>(column.first) * 3;
      for (size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (size_t k = 0; k < column.weights.size(); ++k)
          sum += column.weights[k] * from[k * 3 + c];
        *to++ = Rounded(sum);
      }
    }
  }
  return out;
}

// The position of an output pixel between two input pixels.
struct Sample {
  int low, high;
  float weight;  // of `high`
};

std::vector<Sample> SamplesAlong(int from, int to) {
  std::vector<Sample> samples(static_cast<size_t>(to));
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  for (int i = 0; i < to; ++i) {
    const float at = std::max(0.f, (static_cast<float>(i) + 0.5f) * ratio - 0.5f);
    const int low = std::min(static_cast<int>(at), from - 1);
    samples[static_cast<size_t>(i)] = {low, std::min(low + 1, from - 1),
                                       at - static_cast<float>(low)};
  }
  return samples;
}

Image ResizeLinearly(const Image& image, int width, int height) {
  const std::vector<Sample> columns = SamplesAlong(image.width, width);
  const std::vector<Sample> rows = SamplesAlong(image.height, height);
  Image out{.width = width, .height = height, .rgb = Pixels<uint8_t>(width, height)};
  uint8_t* to = out.rgb.data();
  const size_t stride = static_cast<size_t>(image.width) * 3;
  for (const Sample& row : rows) {
    const uint8_t* const upper = image.rgb.data() + static_cast<size_t>(row.low) * stride;
    const uint8_t* const lower = image.rgb.data() + static_cast<size_t>(row.high) * stride;
    for (const Sample& column : columns) {
      for (int c = 0; c < 3; ++c) {
        const int left = column.low * 3 + c, right = column.high * 3 + c;
        const float top =
            upper[left] + column.weight * static_cast<float>(upper[right] - upper[left]);
        const float bottom =
            lower[left] + column.weight * static_cast<float>(lower[right] - lower[left]);
        *to++ = static_cast<uint8_t>(top + row.weight * (bottom - top) + 0.5f);
      }
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> InterpolationNames() { return {std::begin(kNames), std::end(kNames)}; }

bool ParseInterpolation(const std::string& name, Interpolation* interpolation) {
  CAFFE_ENFORCE(interpolation != nullptr, "argument interpolation is null");
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return false;
  *interpolation = static_cast<Interpolation>(found - std::begin(kNames));
  return true;
}

Image ResizeImage(const Image& image, int width, int height, Interpolation interpolation) try {
  const int from_width = image.width, from_height = image.height;
  CAFFE_ENFORCE(width > 0 && height > 0 && from_width > 0 && from_height > 0,
                "cannot resize an image of ", from_width, "x", from_height, " pixels to ", width,
                "x", height);
  if (width == from_width && height == from_height) return image;
  const bool shrinks = width <= from_width && height <= from_height;
  switch (interpolation) {
    case Interpolation::kLinear:
      return ResizeLinearly(image, width, height);
    case Interpolation::kNearest:
      return ResizeExactly(image, NearestTaps(from_width, width), NearestTaps(from_height, height));
    case Interpolation::kCubic:
      return ResizeExactly(image, CubicTaps(from_width, width), CubicTaps(from_height, height));
    case Interpolation::kArea: {
      const auto taps = shrinks ? CoveredTaps : GrowingAreaTaps;
      return ResizeExactly(image, taps(from_width, width), taps(from_height, height));
    }
    default:
      return ResizeFixed(
          image, width, height,
          kFilters[static_cast<int>(interpolation) - static_cast<int>(Interpolation::kBox)]);
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
