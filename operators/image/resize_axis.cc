#include "operators/image/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

// The place in the input of output index i. With kTfCropAndResize it may lie outside.
double SourcePlace(const ResizedAxis& axis, ResizeCoordinates coordinates, int64_t i) {
  const double in = static_cast<double>(axis.in), x = static_cast<double>(i);
  const double length = axis.scale * in;  // of the output, not rounded
  const double half_pixel = (x + 0.5) / axis.scale - 0.5;
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return half_pixel;
    case ResizeCoordinates::kHalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(axis.out) / length) + half_pixel;
    case ResizeCoordinates::kPytorchHalfPixel:
      return length == 1 ? -0.5 : half_pixel;
    case ResizeCoordinates::kAlignCorners:
      return length == 1 ? 0 : x * (in - 1) / (length - 1);
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (x + 0.5) / axis.scale;
    case ResizeCoordinates::kTfCropAndResize:
      break;
  }
  const double region = (axis.end - axis.begin) * (in - 1);
  return (length == 1 ? region / 2 : x * region / (length - 1)) + axis.begin * (in - 1);
}

// A scale of 0.8 or of 7 / 3 is a float next to that number, which is why a place, a multiple of its
// reciprocal, may miss the whole or half number where nearest steps to the next element. Returns that
// number if the place is as near to it as a float is.
double PlaceOfNearest(double place) {
  const double halves = std::nearbyint(2 * place);
  return std::abs(2 * place - halves) <= std::abs(halves) * 0x1p-23 ? halves / 2 : place;
}

double CubicWeight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Which of the elements before and after a place is nearest; `ratio`, above 0 and at most 1, is the
// distance from the one before. 1 is exactly the one after.
int64_t NearestStep(double ratio, ResizeRounding rounding) {
  if (ratio == 1) return 1;
  switch (rounding) {
    case ResizeRounding::kRoundPreferFloor:
      return ratio <= 0.5 ? 0 : 1;
    case ResizeRounding::kRoundPreferCeil:
      return ratio < 0.5 ? 0 : 1;
    case ResizeRounding::kFloor:
      return 0;
    case ResizeRounding::kCeil:
      break;
  }
  return 1;
}

}  // namespace

int64_t ScaledSize(int64_t in, double scale) {
  const double size = scale * static_cast<double>(in), whole = std::nearbyint(size);
  const bool meant = size < 0x1p22 && std::abs(size - whole) <= whole * 0x1p-23;
  return static_cast<int64_t>(meant ? whole : size);
}

bool ResizedAxis::IsIdentity() const {
  return in == out && std::abs(scale - 1) < 1e-9 && std::abs(begin) < 1e-9 &&
         std::abs(end - 1) < 1e-9;
}

bool AxisSamples::AnyOutside() const {
  return std::find(outside.begin(), outside.end(), 1) != outside.end();
}

void AxisSamples::Fill(const ResizedAxis& axis, const ResizeMode& mode) {
  const double stretch = mode.antialias ? std::min(axis.scale, 1.0) : 1.0;
  // The first tap, relative to the element before the place. There are as many on both sides.
  int64_t first = 0;
  if (mode.filter != ResizeFilter::kNearest) {
    const double radius = (mode.filter == ResizeFilter::kLinear ? 1 : 2) / stretch;
    // Filters wider than twice the dimension only repeat its border; this bounds the work.
    CAFFE_ENFORCE_LT(radius, 1 << 24, "elements under the filter of a dimension scaled by ",
                     axis.scale);
    first = static_cast<int64_t>(std::floor(-radius)) + 1;
  }
  taps = mode.filter == ResizeFilter::kNearest ? 1 : static_cast<int>(2 - 2 * first);
  const size_t count = static_cast<size_t>(axis.out) * static_cast<size_t>(taps);
  indices.resize(count);
  weights.resize(count);
  outside.assign(static_cast<size_t>(axis.out), 0);
  for (int64_t i = 0; i < axis.out; ++i) {
    double place = SourcePlace(axis, mode.coordinates, i);
    if (mode.filter == ResizeFilter::kNearest) place = PlaceOfNearest(place);
    const double last = static_cast<double>(axis.in - 1);
    outside[static_cast<size_t>(i)] =
        mode.coordinates == ResizeCoordinates::kTfCropAndResize && !(place >= 0 && place <= last);
    // A place far outside is as good as one just outside of the widest filter.
    const double reach = static_cast<double>(taps) + 2;
    const double near = std::isnan(place) ? 0 : std::clamp(place, -reach, last + reach);
    const int64_t before = static_cast<int64_t>(std::ceil(near)) - 1;
    const double ratio = near - static_cast<double>(before);
    int64_t* const index = indices.data() + i * taps;
    float* const weight = weights.data() + i * taps;
    if (mode.filter == ResizeFilter::kNearest) {
      *index = std::clamp<int64_t>(before + NearestStep(ratio, mode.rounding), 0, axis.in - 1);
      *weight = 1;
      continue;
    }
    double sum = 0;
    const auto weight_of = [&](int t) {
      const int64_t element = before + first + t;
      if (mode.exclude_outside && (element < 0 || element >= axis.in)) return 0.0;
      const double distance = stretch * (static_cast<double>(first + t) - ratio);
      return mode.filter == ResizeFilter::kLinear ? std::max(0.0, 1 - std::abs(distance))
                                                  : CubicWeight(distance, mode.cubic_a);
    };
    for (int t = 0; t < taps; ++t) sum += weight_of(t);
    if (sum == 0) sum = 1;
    for (int t = 0; t < taps; ++t) {
      index[t] = std::clamp<int64_t>(before + first + t, 0, axis.in - 1);
      weight[t] = static_cast<float>(weight_of(t) / sum);
    }
  }
}

}  // namespace caffe2rt
