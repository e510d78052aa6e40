#include "operators/norm/moments.h"

#include <algorithm>

#include "caffe2_core/base/simd_fma.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

// Number of floats that stay in the first-level cache between the two passes over a block.
constexpr int64_t kBlock = 4096;
// Number of rows whose columns are summed in float before they are added in double.
constexpr int64_t kRowBlock = 32;

// The sum of all lanes of four vectors.
#define ADD_UP(sum) math::Sum((sum[0] + sum[1]) + (sum[2] + sum[3]))

CAFFE2RT_SIMD_FMA float BlockSum(const float* x, int64_t n) {
  math::Lanes sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * math::kLanes <= n; i += 4 * math::kLanes) {
    for (int j = 0; j < 4; ++j) {
      math::Lanes v;
      math::Load(x + i + j * math::kLanes, v);
      sum[j] += v;
    }
  }
  float rest = 0;
  for (; i < n; ++i) rest += x[i];
  return ADD_UP(sum) + rest;
}

CAFFE2RT_SIMD_FMA float BlockSquares(const float* x, int64_t n, float mean) {
  math::Lanes sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * math::kLanes <= n; i += 4 * math::kLanes) {
    for (int j = 0; j < 4; ++j) {
      math::Lanes v;
      math::Load(x + i + j * math::kLanes, v);
      v -= mean;
      sum[j] += v * v;
    }
  }
  float rest = 0;
  for (; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  return ADD_UP(sum) + rest;
}
#undef ADD_UP

CAFFE2RT_SIMD_FMA void AddRows(const float* x, int64_t rows, int64_t channels, float* sum) {
  for (int64_t r = 0; r < rows; ++r, x += channels) {
    for (int64_t c = 0; c < channels; ++c) sum[c] += x[c];
  }
}

CAFFE2RT_SIMD_FMA void AddSquaresOfRows(const float* x, int64_t rows, int64_t channels,
                                        const float* mean, float* sum) {
  for (int64_t r = 0; r < rows; ++r, x += channels) {
    for (int64_t c = 0; c < channels; ++c) sum[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
  }
}

// Vectorized by hand, because the compiler cannot know whether x and y overlap.
CAFFE2RT_SIMD_FMA void NormalizeRowKernel(const float* x, int64_t n, float mean, float scale,
                                          float bias, float* y) {
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Lanes v;
    math::Load(x + i, v);
    v = (v - mean) * scale + bias;
    math::Store(v, y + i);
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * scale + bias;
}

CAFFE2RT_SIMD_FMA void NormalizeColumnsKernel(const float* x, int64_t rows, int64_t channels,
                                              const float* mean, const float* scale,
                                              const float* bias, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += channels, y += channels) {
    int64_t c = 0;
    for (; c + math::kLanes <= channels; c += math::kLanes) {
      math::Lanes v, m, s, b;
      math::Load(x + c, v);
      math::Load(mean + c, m);
      math::Load(scale + c, s);
      math::Load(bias + c, b);
      v = (v - m) * s + b;
      math::Store(v, y + c);
    }
    for (; c < channels; ++c) y[c] = (x[c] - mean[c]) * scale[c] + bias[c];
  }
}

}  // namespace

Moments MomentsOf(const float* x, int64_t n) {
  Moments all;
  for (int64_t i = 0; i < n; i += kBlock) {
    Moments block;
    block.count = std::min(kBlock, n - i);
    // The mean is rounded to float, so that BlockSquares and Merge use the same number.
    const float mean = BlockSum(x + i, block.count) / static_cast<float>(block.count);
    block.mean = mean;
    block.squares = BlockSquares(x + i, block.count, mean);
    all.Merge(block);
  }
  return all;
}

Moments MomentsOf(const double* x, int64_t n) {
  Moments all;
  if (n == 0) return all;
  all.count = n;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  all.mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) all.squares += (x[i] - all.mean) * (x[i] - all.mean);
  return all;
}

void ColumnMoments(const float* x, int64_t rows, int64_t channels, float* scratch,
                   Moments* moments) {
  float* const sum = scratch;
  float* const mean = scratch + channels;
  std::fill_n(moments, channels, Moments{});
  for (int64_t r = 0; r < rows; r += kRowBlock) {
    std::fill_n(sum, channels, 0.0f);
    AddRows(x + r * channels, std::min(kRowBlock, rows - r), channels, sum);
    for (int64_t c = 0; c < channels; ++c) moments[c].mean += sum[c];
  }
  for (int64_t c = 0; c < channels; ++c) {
    moments[c].count = rows;
    mean[c] = rows > 0 ? static_cast<float>(moments[c].mean / static_cast<double>(rows)) : 0;
    moments[c].mean = mean[c];
  }
  for (int64_t r = 0; r < rows; r += kRowBlock) {
    std::fill_n(sum, channels, 0.0f);
    AddSquaresOfRows(x + r * channels, std::min(kRowBlock, rows - r), channels, mean, sum);
    for (int64_t c = 0; c < channels; ++c) moments[c].squares += sum[c];
  }
}

void NormalizeRow(const float* x, int64_t n, float mean, float scale, float bias, float* y) {
  NormalizeRowKernel(x, n, mean, scale, bias, y);
}

void NormalizeColumns(const float* x, int64_t rows, int64_t channels, const float* mean,
                      const float* scale, const float* bias, float* y) {
  NormalizeColumnsKernel(x, rows, channels, mean, scale, bias, y);
}

}  // namespace caffe2rt
