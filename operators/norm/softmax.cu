// Softmax on CUDA: a block of threads computes one row.

#include <cmath>
#include <limits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/norm/softmax_kernels.h"

namespace caffe2rt {

namespace {

struct SoftmaxRow {
  int64_t n;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const in = x + row.index() * n;
    float* const out = y + row.index() * n;
    const float top = row.Reduce(n, -std::numeric_limits<float>::infinity(), Maximum(),
                                 [=](int64_t i) { return in[i]; });
    const float sum =
        row.Reduce(n, 0.f, Plus(), [=](int64_t i) { return out[i] = std::exp(in[i] - top); });
    row.ForEach(n, [=](int64_t i) { out[i] /= sum; });
  }
};

}  // namespace

void SoftmaxRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y) {
  if (n > 0) ForEachRow(context, rows, SoftmaxRow{n, x, y}, "Softmax");
}

}  // namespace caffe2rt
