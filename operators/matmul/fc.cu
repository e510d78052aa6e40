#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/matmul/fc_kernels.h"

namespace caffe2rt {

namespace {

struct SumColumn {
  int64_t rows, columns;
  const float* x;
  float* y;
  // A thread sums one column, so that a warp reads contiguous memory.
  CAFFE2RT_HOST_DEVICE void operator()(int64_t column) const {
    float sum = 0.0f;
    for (int64_t i = 0; i < rows; ++i) sum += x[i * columns + column];
    y[column] = sum;
  }
  // A block sums one column.
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const from = x + row.index();
    const float sum =
        row.Reduce(rows, 0.0f, Plus(), [=, this](int64_t i) { return from[i * columns]; });
    row.Once([=, this] { y[row.index()] = sum; });
  }
};

}  // namespace

void SumRows(CUDAContext& context, int64_t rows, int64_t columns, const float* x, float* y) {
  constexpr int64_t kManyColumns = 4096, kFewRows = 32;
  const SumColumn kernel{rows, columns, x, y};
  if (columns >= kManyColumns || rows <= kFewRows) {
    ForEach(context, columns, kernel, "SumRows");
  } else {
    ForEachRow(context, columns, kernel, "SumRows");
  }
}

}  // namespace caffe2rt
