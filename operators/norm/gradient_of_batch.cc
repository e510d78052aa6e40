// The CPU kernels of SpatialBNGradient, ChannelStats and ChannelBackpropStats.

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/thread_pool.h"
#include "operators/norm/spatial_bn_kernels.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

// The number of pieces into which work over NCHW planes is divided: whole channels of at least
// 2^16 elements.
int PiecesFor(const Channels& shape) {
  const int64_t work = shape.batch * shape.count * shape.positions;
  return static_cast<int>(
      std::clamp<int64_t>(std::min(work >> 16, shape.count), 1, GetNumThreads()));
}

// Adds the sums of dy and of dy * (x - mean) over a run to sums[0] and sums[1]. The sums of a block
// are formed in float, those of the blocks in double.
CAFFE2RT_SIMD_FMA void AddRunSums(const float* x, const float* dy, int64_t n, float mean,
                                  double* sums) {
  constexpr int64_t kBlock = 4096;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(start + kBlock, n);
    math::Lanes v, d, plain = {}, products = {};
    int64_t i = start;
    for (; i + math::kLanes <= end; i += math::kLanes) {
      math::Load(x + i, v);
      math::Load(dy + i, d);
      v -= mean;
      plain += d;
      products += d * v;
    }
    float rest = 0, rest_products = 0;
    for (; i < end; ++i) {
      rest += dy[i];
      rest_products += dy[i] * (x[i] - mean);
    }
    sums[0] += math::Sum(plain) + rest;
    sums[1] += math::Sum(products) + rest_products;
  }
}

// The same for the columns of [rows, channels] matrices, with float sums. mean may be null.
CAFFE2RT_SIMD_FMA void AddColumnSums(const float* x, const float* dy, int64_t rows,
                                     int64_t channels, const float* mean, float* plain,
                                     float* products) {
  for (int64_t r = 0; r < rows; ++r, x += channels, dy += channels) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t c = 0; c < channels; ++c) plain[c] += dy[c];
    if (mean == nullptr) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t c = 0; c < channels; ++c) products[c] += dy[c] * x[c];
    } else {
      CAFFE2RT_SIMD_LOOP
      for (int64_t c = 0; c < channels; ++c) products[c] += dy[c] * (x[c] - mean[c]);
    }
  }
}

// Computes the sums over the batch, before the multiplication by the inverse deviation: sums[c] is
// the sum of dy of channel c, sums[count + c] that of dy * (x - mean).
void SumChannels(const Channels& shape, const float* mean, const float* x, const float* dy,
                 BatchNormScratch* scratch) {
  const int64_t n = shape.count, rows = shape.batch * shape.positions;
  scratch->sums.assign(2 * static_cast<size_t>(n), 0.0);
  double* const sums = scratch->sums.data();
  if (rows == 0 || n == 0) return;
  if (shape.last || shape.positions == 1) {
    constexpr int64_t kRows = 32;
    scratch->floats.resize(2 * static_cast<size_t>(n));
    float* const block = scratch->floats.data();
    for (int64_t r = 0; r < rows; r += kRows) {
      std::fill_n(block, 2 * n, 0.0f);
      AddColumnSums(x + r * n, dy + r * n, std::min(kRows, rows - r), n, mean, block, block + n);
      for (int64_t i = 0; i < 2 * n; ++i) sums[i] += block[i];
    }
    return;
  }
  const int pieces = PiecesFor(shape);
  ParallelFor(pieces, [&](int piece) {
    for (int64_t i = 0; i < shape.batch; ++i) {
      for (int64_t c = n * piece / pieces; c < n * (piece + 1) / pieces; ++c) {
        const int64_t at = (i * n + c) * shape.positions;
        double both[2] = {};
        AddRunSums(x + at, dy + at, shape.positions, mean != nullptr ? mean[c] : 0, both);
        sums[c] += both[0];
        sums[n + c] += both[1];
      }
    }
  });
}

// dx = factor * (dy - (x - mean) * slope - shift).
CAFFE2RT_SIMD_FMA void GradientOfRun(const float* x, const float* dy, int64_t n, float mean,
                                     float factor, float slope, float shift, float* dx) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) dx[i] = factor * (dy[i] - (x[i] - mean) * slope - shift);
}

CAFFE2RT_SIMD_FMA void GradientOfColumns(const float* x, const float* dy, int64_t rows,
                                         int64_t channels, const float* mean, const float* factor,
                                         const float* slope, const float* shift, float* dx) {
  for (int64_t r = 0; r < rows; ++r, x += channels, dy += channels, dx += channels) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t c = 0; c < channels; ++c) {
      dx[c] = factor[c] * (dy[c] - (x[c] - mean[c]) * slope[c] - shift[c]);
    }
  }
}

}  // namespace

void GradientOfBatch(CPUContext&, const Channels& shape, const BatchNormGradient& parameters,
                     const float* x, const float* dy, BatchNormScratch* scratch, float* dx) {
  const int64_t n = shape.count, rows = shape.batch * shape.positions;
  const auto& [num_batches, scale, mean, given_inverse, var, epsilon, dscale_sum, dbias_sum, dscale,
               dbias] = parameters;
  const bool given = dbias_sum != nullptr;
  const float* inverse = given_inverse;
  if (var != nullptr) {
    scratch->inverse.resize(static_cast<size_t>(n));
    for (int64_t c = 0; c < n; ++c) {
      scratch->inverse[static_cast<size_t>(c)] = 1 / std::sqrt(var[c] + epsilon);
    }
    inverse = scratch->inverse.data();
  }
  if (!given) SumChannels(shape, mean, x, dy, scratch);
  for (int64_t c = 0; c < n; ++c) {
    const float factor = inverse != nullptr ? inverse[c] : 1;
    if (rows == 0) {
      dbias[c] = dscale[c] = 0;
    } else if (given) {
      dbias[c] = dbias_sum[c] / static_cast<float>(num_batches);
      dscale[c] = dscale_sum[c] / static_cast<float>(num_batches);
    } else {
      dbias[c] = static_cast<float>(scratch->sums[static_cast<size_t>(c)]);
      dscale[c] = static_cast<float>(scratch->sums[static_cast<size_t>(n + c)] * factor);
    }
  }
  if (dx == nullptr || rows == 0 || n == 0) return;
  scratch->factor.resize(static_cast<size_t>(n));
  scratch->term.resize(2 * static_cast<size_t>(n));
  float* const factor = scratch->factor.data();
  float* const slope = scratch->term.data();
  float* const shift = slope + n;
  for (int64_t c = 0; c < n; ++c) {
    factor[c] = scale[c] * inverse[c];
    // Constant statistics do not depend on x.
    slope[c] = var != nullptr ? 0 : dscale[c] / static_cast<float>(rows) * inverse[c];
    shift[c] = var != nullptr ? 0 : dbias[c] / static_cast<float>(rows);
  }
  if (shape.last || shape.positions == 1) {
    GradientOfColumns(x, dy, rows, n, mean, factor, slope, shift, dx);
    return;
  }
  const int pieces = PiecesFor(shape);
  ParallelFor(pieces, [&, mean = mean](int piece) {
    for (int64_t i = 0; i < shape.batch; ++i) {
      for (int64_t c = n * piece / pieces; c < n * (piece + 1) / pieces; ++c) {
        const int64_t at = (i * n + c) * shape.positions;
        GradientOfRun(x + at, dy + at, shape.positions, mean[c], factor[c], slope[c], shift[c],
                      dx + at);
      }
    }
  });
}

}  // namespace caffe2rt
