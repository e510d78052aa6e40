// The CPU kernels of InstanceNormGradient and GroupNormGradient.
//
// dx = c1 * dy + c2 * x + c3, where c1, c2 and c3 follow from the sums of dy and of dy * x over each
// channel of an image. The sums are formed in the order and the precision of Caffe2: if dy is a
// linear function of x, dx is the rounding error of these operations, and it then equals Caffe2's.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "caffe2_core/base/simd.h"
#include "operators/norm/instance_norm_kernels.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

using math::FourLanes;

inline float SumOfFour(const FourLanes& v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// The sum of f(0), ..., f(n - 1) in four lanes, which start at `start`. `load` sets four values.
template <class Load, class Value>
float SumInLanes(int64_t n, int64_t start, const Load& load, const Value& value) {
  start = std::min(start, n);
  const int64_t whole = start + (n - start) / 4 * 4, pairs = start + (n - start) / 8 * 8;
  if (whole == start) {
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += value(i);
    return sum;
  }
  FourLanes even = {}, odd = {}, v;
  for (int64_t i = start; i < pairs; i += 8) {
    load(i, v);
    even += v;
    load(i + 4, v);
    odd += v;
  }
  even += odd;
  if (whole > pairs) {
    load(pairs, v);
    even += v;
  }
  float sum = SumOfFour(even);
  for (int64_t i = 0; i < start; ++i) sum += value(i);
  for (int64_t i = whole; i < n; ++i) sum += value(i);
  return sum;
}

void Load4(const float* x, FourLanes& v) { std::memcpy(&v, x, sizeof(v)); }

// The sums over each channel of each image, products and then plain, each [batch, channels].
void SumPlanes(const Channels& shape, const float* x, const float* dy, float* products,
               float* plain) {
  const int64_t n = shape.positions;
  for (int64_t i = 0; i < shape.batch * shape.count; ++i, x += n, dy += n) {
    products[i] = SumInLanes(
        n, 0,
        [&](int64_t at, FourLanes& v) {
          FourLanes w;
          Load4(x + at, w);
          Load4(dy + at, v);
          v *= w;
        },
        [&](int64_t at) { return dy[at] * x[at]; });
    // Caffe2 begins at an address that is a multiple of four floats.
    plain[i] = SumInLanes(
        n, (4 - i * n % 4) % 4, [&](int64_t at, FourLanes& v) { Load4(dy + at, v); },
        [&](int64_t at) { return dy[at]; });
  }
}

CAFFE2RT_SIMD void SumColumns(const float* x, const float* dy, int64_t rows, int64_t channels,
                              float* products, float* plain) {
  for (int64_t r = 0; r < rows; ++r, x += channels, dy += channels) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t c = 0; c < channels; ++c) {
      products[c] += dy[c] * x[c];
      plain[c] += dy[c];
    }
  }
}

CAFFE2RT_SIMD void Combine(const float* x, const float* dy, int64_t n, float c1, float c2, float c3,
                           float* dx) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) dx[i] = c1 * dy[i] + c2 * x[i] + c3;
}

CAFFE2RT_SIMD void CombineColumns(const float* x, const float* dy, int64_t rows, int64_t channels,
                                  const float* c1, const float* c2, const float* c3, float* dx) {
  for (int64_t r = 0; r < rows; ++r, x += channels, dy += channels, dx += channels) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t c = 0; c < channels; ++c) dx[c] = c1[c] * dy[c] + c2[c] * x[c] + c3[c];
  }
}

// The moments of channel c of the image at x, computed accurately.
Moments AccurateMoments(const Channels& shape, const float* x, int64_t c) {
  if (!shape.last) return MomentsOf(x + c * shape.positions, shape.positions);
  Moments moments{.count = shape.positions};
  for (int64_t p = 0; p < shape.positions; ++p) moments.mean += x[p * shape.count + c];
  moments.mean /= static_cast<double>(shape.positions);
  for (int64_t p = 0; p < shape.positions; ++p) {
    const double d = x[p * shape.count + c] - moments.mean;
    moments.squares += d * d;
  }
  return moments;
}

// Mean and 1 / sqrt(variance + epsilon) of channel c of the image at x, which is image `i`. As in
// Caffe2, the variance is the mean square minus the square of the mean, unless that loses more than
// three digits.
void StatisticsOf(const Channels& shape, int64_t i, int64_t c, float epsilon, const float* x,
                  float* mean, float* inv_std) {
  const int64_t n = shape.positions;
  float sum = 0, squares = 0;
  if (shape.last) {
    for (int64_t p = 0; p < n; ++p) {
      const float value = x[p * shape.count + c];
      sum += value;
      squares += value * value;
    }
  } else {
    const float* const plane = x + c * n;
    sum = SumInLanes(
        n, (4 - (i * shape.count + c) * n % 4) % 4,
        [&](int64_t at, FourLanes& v) { Load4(plane + at, v); },
        [&](int64_t at) { return plane[at]; });
    squares = SumInLanes(
        n, 0,
        [&](int64_t at, FourLanes& v) {
          Load4(plane + at, v);
          v *= v;
        },
        [&](int64_t at) { return plane[at] * plane[at]; });
  }
  *mean = sum / static_cast<float>(n);
  float variance = squares / static_cast<float>(n) - *mean * *mean;
  if (variance * 1024 < squares / static_cast<float>(n)) {
    const Moments moments = AccurateMoments(shape, x, c);
    *mean = static_cast<float>(moments.mean);
    variance = static_cast<float>(moments.variance());
  }
  *inv_std = 1 / std::sqrt(variance + epsilon);
}

// dx of one image. `products` and `plain` are its sums; `factors` has space for c1, c2 and c3 of each
// channel.
void GradientOfImage(const Channels& shape, int64_t groups, const float* x, const float* dy,
                     const float* gamma, const float* mean, const float* inv_std,
                     const float* products, const float* plain, float* factors, float* dx) {
  const int64_t channels = shape.count / groups, n = shape.positions;
  const float share = 1 / static_cast<float>(channels * n);
  float* const c1 = factors;
  float* const c2 = c1 + shape.count;
  float* const c3 = c2 + shape.count;
  for (int64_t g = 0; g < groups; ++g) {
    const float r = inv_std[g];
    float product = 0, sum = 0;
    for (int64_t c = g * channels; c < (g + 1) * channels; ++c) {
      product += products[c] * gamma[c];
      sum += plain[c] * gamma[c];
      c1[c] = r * gamma[c];
    }
    const float second = (sum * mean[g] - product) * r * r * r * share;
    std::fill_n(c2 + g * channels, channels, second);
    std::fill_n(c3 + g * channels, channels, -(second * mean[g]) - sum * r * share);
  }
  if (shape.last) return CombineColumns(x, dy, n, shape.count, c1, c2, c3, dx);
  for (int64_t c = 0; c < shape.count; ++c) {
    Combine(x + c * n, dy + c * n, n, c1[c], c2[c], c3[c], dx + c * n);
  }
}

}  // namespace

void GradientOfGroups(CPUContext&, const Channels& shape, int64_t groups,
                      const GroupNormGradient& gradient, float* sums) {
  const auto& [epsilon, x, dy, gamma, mean, inv_std, dx, dgamma, dbeta] = gradient;
  const int64_t image = shape.count * shape.positions, all = shape.batch * shape.count;
  std::fill_n(dgamma, shape.count, 0.0f);
  std::fill_n(dbeta, shape.count, 0.0f);
  if (shape.batch * image == 0) return;
  float* const products = sums;
  float* const plain = products + all;
  // The factors and, if not given, mean and inverse deviation of one image.
  float* const factors = plain + all;
  float* const computed = factors + 3 * shape.count;
  if (shape.last) {
    std::fill_n(sums, 2 * all, 0.0f);
    for (int64_t i = 0; i < shape.batch; ++i) {
      SumColumns(x + i * image, dy + i * image, shape.positions, shape.count,
                 products + i * shape.count, plain + i * shape.count);
    }
  } else {
    SumPlanes(shape, x, dy, products, plain);
  }
  const int64_t per_group = shape.count / groups;
  for (int64_t i = 0; i < shape.batch; ++i) {
    const float* middle = mean != nullptr ? mean + i * groups : computed;
    const float* inverse = mean != nullptr ? inv_std + i * groups : computed + groups;
    if (mean == nullptr) {
      for (int64_t g = 0; g < groups; ++g) {
        StatisticsOf(shape, i, g, epsilon, x + i * image, computed + g, computed + groups + g);
      }
    }
    const float* const product = products + i * shape.count;
    const float* const sum = plain + i * shape.count;
    GradientOfImage(shape, groups, x + i * image, dy + i * image, gamma, middle, inverse, product,
                    sum, factors, dx + i * image);
    for (int64_t c = 0; c < shape.count; ++c) {
      const int64_t g = c / per_group;
      dgamma[c] += (product[c] - sum[c] * middle[g]) * inverse[g];
      dbeta[c] += sum[c];
    }
  }
}

}  // namespace caffe2rt
