#include "operators/common/softmax_rows.h"

#include <algorithm>
#include <limits>

#include "caffe2_core/base/simd_fma.h"
#include "operators/primitives/lanes.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr int64_t kSteps = 4;  // the cost of an element, in the steps of ParallelRanges
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Processes sixteen rows of up to kLanes floats at a time, one row in each lane. REQUIRES: `rows` is
// a multiple of sixteen.
CAFFE2RT_SIMD_FMA void ShortRowsAcross(int64_t rows, int64_t n, const float* x, float* y) {
  float tile[math::kLanes][math::kLanes];
  for (int64_t r = 0; r < rows; r += math::kLanes, x += n * math::kLanes, y += n * math::kLanes) {
    for (int64_t lane = 0; lane < math::kLanes; ++lane) {
      for (int64_t i = 0; i < n; ++i) tile[i][lane] = x[lane * n + i];
    }
    math::Lanes v, top, sum = {};
    math::Fill(-kInfinity, top);
    for (int64_t i = 0; i < n; ++i) {
      math::Load(tile[i], v);
      math::Maximum(v, top);
    }
    for (int64_t i = 0; i < n; ++i) {
      math::Load(tile[i], v);
      v -= top;
      math::Exp(v);
      math::Store(v, tile[i]);
      sum += v;
    }
    for (int64_t i = 0; i < n; ++i) {
      math::Load(tile[i], v);
      v /= sum;
      math::Store(v, tile[i]);
    }
    for (int64_t lane = 0; lane < math::kLanes; ++lane) {
      for (int64_t i = 0; i < n; ++i) y[lane * n + i] = tile[i][lane];
    }
  }
}

// Processes rows of up to kLanes floats, each in one vector.
CAFFE2RT_SIMD_FMA void ShortRows(int64_t rows, int64_t n, const float* x, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    math::Lanes v;
    math::LoadFirst(x, n, -kInfinity, v);
    v -= math::Largest(v);
    math::Exp(v);
    // Lanes beyond the end of the row are left out of the sum, also if the row contains NaN.
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += v[i];
    v /= sum;
    math::StoreFirst(v, n, y);
  }
}

// Processes a row of more than kLanes floats in three passes: the maximum, the exponentials with
// their sum, and the division by the sum.
CAFFE2RT_SIMD_FMA void LongRow(int64_t n, const float* x, float* y) {
  // The last vector may overlap the one before it, which does not change a maximum.
  const int64_t whole = n - n % math::kLanes;
  math::Lanes v, largest;
  math::Load(x + n - math::kLanes, largest);
  // Maximum ignores a NaN in its first argument but would keep one in its second.
  math::Fill(-kInfinity, v);
  math::Maximum(largest, v);
  largest = v;
  for (int64_t i = 0; i < whole; i += math::kLanes) {
    math::Load(x + i, v);
    math::Maximum(v, largest);
  }
  const float top = math::Largest(largest);
  math::Lanes sums = {};
  for (int64_t i = 0; i < whole; i += math::kLanes) {
    math::Load(x + i, v);
    v -= top;
    math::Exp(v);
    math::Store(v, y + i);
    sums += v;
  }
  float sum = math::Sum(sums);
  if (whole < n) {
    math::LoadFirst(x + whole, n - whole, -kInfinity, v);
    v -= top;
    math::Exp(v);
    math::StoreFirst(v, n - whole, y + whole);
    for (int64_t i = whole; i < n; ++i) sum += y[i];
  }
  const float factor = 1 / sum;
  for (int64_t i = 0; i < whole; i += math::kLanes) {
    math::Load(y + i, v);
    v *= factor;
    math::Store(v, y + i);
  }
  for (int64_t i = whole; i < n; ++i) y[i] *= factor;
}

CAFFE2RT_LANES_INLINE void GradientOfRow(int64_t n, const float* y, const float* dy, float* dx) {
  const int64_t whole = n - n % math::kLanes;
  math::Lanes p, d, sums = {};
  for (int64_t i = 0; i < whole; i += math::kLanes) {
    math::Load(y + i, p);
    math::Load(dy + i, d);
    sums += p * d;
  }
  float sum = math::Sum(sums);
  for (int64_t i = whole; i < n; ++i) sum += y[i] * dy[i];
  for (int64_t i = 0; i < whole; i += math::kLanes) {
    math::Load(y + i, p);
    math::Load(dy + i, d);
    d = (d - sum) * p;
    math::Store(d, dx + i);
  }
  for (int64_t i = whole; i < n; ++i) dx[i] = (dy[i] - sum) * y[i];
}

CAFFE2RT_LANES_INLINE void LoadLanes(const float* x, int64_t count, math::Lanes& v) {
  if (count == math::kLanes) {
    math::Load(x, v);
  } else {
    math::LoadFirst(x, count, 0, v);
  }
}
CAFFE2RT_LANES_INLINE void StoreLanes(const math::Lanes& v, int64_t count, float* y) {
  if (count == math::kLanes) {
    math::Store(v, y);
  } else {
    math::StoreFirst(v, count, y);
  }
}

CAFFE2RT_SIMD_FMA void GradientOfRows(int64_t rows, int64_t n, const float* y, const float* dy,
                                      float* dx) {
  for (int64_t at = 0; at < rows * n; at += n) GradientOfRow(n, y + at, dy + at, dx + at);
}

// Processes `count` adjacent positions, one in each lane; channels are `step` floats apart.
CAFFE2RT_SIMD_FMA void SoftmaxPositions(int64_t count, int64_t channels, int64_t step,
                                        const float* x, float* y) {
  math::Lanes v, top, sum = {};
  math::Fill(-kInfinity, top);
  for (int64_t c = 0; c < channels; ++c) {
    LoadLanes(x + c * step, count, v);
    math::Maximum(v, top);
  }
  for (int64_t c = 0; c < channels; ++c) {
    LoadLanes(x + c * step, count, v);
    v -= top;
    math::Exp(v);
    StoreLanes(v, count, y + c * step);
    sum += v;
  }
  for (int64_t c = 0; c < channels; ++c) {
    LoadLanes(y + c * step, count, v);
    v /= sum;
    StoreLanes(v, count, y + c * step);
  }
}

}  // namespace

void SoftmaxRows(CPUContext&, int64_t rows, int64_t n, const float* x, float* y) {
  if (rows == 0 || n == 0) return;  // an empty tensor may have a dimension of any size
  if (n <= math::kLanes) {
    // Whole groups of rows, so that the same rows remain for ShortRows whatever the ranges are.
    const int64_t groups = rows / math::kLanes, done = groups * math::kLanes;
    ParallelRanges(groups, math::kLanes * n * kSteps, [&](int64_t first, int64_t last) {
      const int64_t at = first * math::kLanes * n;
      ShortRowsAcross((last - first) * math::kLanes, n, x + at, y + at);
    });
    ShortRows(rows - done, n, x + done * n, y + done * n);
    return;
  }
  ParallelRanges(rows, n * kSteps, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) LongRow(n, x + r * n, y + r * n);
  });
}

void SoftmaxRowsGradient(CPUContext&, int64_t rows, int64_t n, const float* y, const float* dy,
                         float* dx) {
  if (rows == 0 || n == 0) return;
  ParallelRanges(rows, n * 2, [&](int64_t first, int64_t last) {
    GradientOfRows(last - first, n, y + first * n, dy + first * n, dx + first * n);
  });
}

void SoftmaxChannels(CPUContext&, int64_t batch, int64_t channels, int64_t positions,
                     const float* x, float* y) {
  if (batch == 0 || channels == 0 || positions == 0) return;
  const int64_t groups = (positions + math::kLanes - 1) / math::kLanes;
  ParallelRanges(batch * groups, math::kLanes * channels * kSteps,
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) {
                     const int64_t at = i % groups * math::kLanes;
                     const int64_t offset = i / groups * channels * positions + at;
                     SoftmaxPositions(std::min<int64_t>(math::kLanes, positions - at), channels,
                                      positions, x + offset, y + offset);
                   }
                 });
}

}  // namespace caffe2rt
