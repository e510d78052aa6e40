#pragma once
// How ONNX's Resize samples one dimension: for each output index the input elements and their
// weights.
//
// Every mode is the same weighted sum along one dimension after the other: nearest with one element,
// linear with two, cubic with four, and more with antialias, where the filter is stretched if the
// dimension shrinks. Elements outside the dimension are those at its border.

#include <cstdint>
#include <vector>

namespace caffe2rt {

enum class ResizeFilter : uint8_t { kNearest, kLinear, kCubic };
enum class ResizeRounding : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};

struct ResizeMode {
  ResizeFilter filter = ResizeFilter::kNearest;
  ResizeRounding rounding = ResizeRounding::kRoundPreferFloor;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  bool antialias = false;
  bool exclude_outside = false;  // elements outside have weight 0, and the others more
  double cubic_a = -0.75;        // coefficient of the cubic filter
};

// A dimension of `in` elements as one of `out`. `scale` is the quotient of the sizes, or what the user
// gave instead. The region [begin, end], in units of the dimension, counts for kTfCropAndResize only.
struct ResizedAxis {
  int64_t in = 0, out = 0;
  double scale = 1, begin = 0, end = 1;

  bool IsIdentity() const;
};

// The size of a dimension of `in` elements that is scaled by a float: the product, rounded down. The
// float of 0.7 is a little less, and makes 7 elements of 10 nevertheless: products as near to a whole
// number as floats are to each other count as that number.
// REQUIRES: scale * in is not negative and below 2^62.
int64_t ScaledSize(int64_t in, double scale);

// The elements and weights of one dimension: out index i is the sum over t < taps of weights[i * taps
// + t] times element indices[i * taps + t]. With taps 0 there is no dimension to sample.
struct AxisSamples {
  int taps = 0;
  std::vector<int64_t> indices;
  std::vector<float> weights;
  std::vector<uint8_t> outside;  // kTfCropAndResize: the value is the extrapolation value

  // REQUIRES: axis.in > 0 if axis.out > 0.
  void Fill(const ResizedAxis& axis, const ResizeMode& mode);
  bool AnyOutside() const;
};

}  // namespace caffe2rt
