// The kernels of AffineChannel and BatchPermutation.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/detection/affine_channel_kernels.h"
#include "operators/detection/batch_permutation_kernels.h"

namespace caffe2rt {

namespace {

// A thread computes one element.
struct ScaleEach {
  int64_t channels, inner;  // inner: elements of X between two channels
  const float* x;
  const float* scale;
  const float* bias;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = i / inner % channels;
    y[i] = x[i] * scale[c] + (bias == nullptr ? 0 : bias[c]);
  }
};

// A block adds up one channel.
struct SumEach {
  int64_t batch, channels, positions;
  bool last;
  const float* dy;
  const float* x;
  float* dscale;
  float* dbias;

  struct Sums {
    float product, total;
  };
  struct Add {
    CAFFE2RT_HOST_DEVICE Sums operator()(Sums a, Sums b) const {
      return {a.product + b.product, a.total + b.total};
    }
  };
  CAFFE2RT_HOST_DEVICE int64_t At(int64_t i, int64_t c) const {
    return last ? i * channels + c : (i / positions * channels + c) * positions + i % positions;
  }
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t c = row.index();
    const Sums sums = row.Reduce(batch * positions, Sums{0, 0}, Add(), [=, this](int64_t i) {
      const int64_t at = At(i, c);
      return Sums{dy[at] * x[at], dy[at]};
    });
    row.Once([=, this] {
      dscale[c] = sums.product;
      dbias[c] = sums.total;
    });
  }
};

struct RowChecker {
  int64_t rows;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE bool operator()(int64_t index, int64_t place) const {
    if (index >= 0 && index < rows) return true;
    report->Raise(text, place, index, rows);
    return false;
  }
};

// A thread copies one element.
struct Permute {
  RowChecker check;
  int64_t columns;
  const int32_t* indices;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns, from = indices[row];
    y[i] = check(from, row) ? x[from * columns + i % columns] : 0;
  }
};

// A block adds up the rows of dY that were copied from one row of X.
struct PermuteGradient {
  RowChecker check;
  int64_t columns;
  const int32_t* indices;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    float* const to = dx + row.index() * columns;
    row.ForEach(columns, [=](int64_t i) { to[i] = 0; });
    for (int64_t j = 0; j < check.rows; ++j) {
      const int64_t index = indices[j];
      if (!check(index, j) || index != row.index()) continue;
      const float* const from = dy + j * columns;
      row.ForEach(columns, [=](int64_t i) { to[i] += from[i]; });
    }
  }
};

RowChecker CheckerOf(const CUDAContext& context, int64_t rows) {
  return {rows, ReportOf(context),
          "the index of row % of the output is %, want at least 0 and below %, the number of rows"};
}

}  // namespace

void ScaleChannels(CUDAContext& context, const Channels& channels, const float* x,
                   const float* scale, const float* bias, float* y) {
  const int64_t inner = channels.last ? 1 : channels.positions;
  ForEach(context, channels.batch * channels.count * channels.positions,
          ScaleEach{channels.count, inner, x, scale, bias, y}, "AffineChannel");
}

void SumChannels(CUDAContext& context, const Channels& channels, const float* dy, const float* x,
                 float* dscale, float* dbias) {
  const SumEach sum{channels.batch, channels.count, channels.positions, channels.last, dy, x,
                    dscale,         dbias};
  ForEachRow(context, channels.count, sum, "AffineChannelGradient");
}

void PermuteRows(CUDAContext& context, int64_t rows, int64_t columns, const int32_t* indices,
                 const float* x, float* y) {
  ForEach(context, rows * columns, Permute{CheckerOf(context, rows), columns, indices, x, y},
          "BatchPermutation");
}

void PermuteRowsGradient(CUDAContext& context, int64_t rows, int64_t columns,
                         const int32_t* indices, const float* dy, float* dx) {
  const PermuteGradient permute{CheckerOf(context, rows), columns, indices, dy, dx};
  ForEachRow(context, rows, permute, "BatchPermutationGradient");
}

}  // namespace caffe2rt
