// Softmax over the channels of every position, or over whole images.

#include <algorithm>
#include <cmath>
#include <limits>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

// `outer` * `inner` softmaxes of `size` elements each, with stride `inner`.
struct Rows {
  size_t outer = 1, size = 1, inner = 1;

  size_t At(size_t row, size_t i) const { return (row / inner * size + i) * inner + row % inner; }
};

Rows RowsOf(cudnnSoftmaxMode_t mode, const std::vector<int>& dims) {
  Rows rows;
  rows.outer = static_cast<size_t>(dims[0]);
  for (size_t d = 1; d < dims.size(); ++d) {
    const bool inside = mode == CUDNN_SOFTMAX_MODE_INSTANCE || d == 1;
    (inside ? rows.size : rows.inner) *= static_cast<size_t>(dims[d]);
  }
  return rows;
}

void Forward(const Rows& rows, cudnnSoftmaxAlgorithm_t algorithm, Values* values) {
  for (size_t row = 0; row < rows.outer * rows.inner; ++row) {
    double greatest = (*values)[rows.At(row, 0)];
    for (size_t i = 1; i < rows.size; ++i)
      greatest = std::max(greatest, (*values)[rows.At(row, i)]);
    // Subtracting the greatest element prevents overflow. The FAST algorithm of cuDNN does not do
    // so; the fake differs from it only where FAST overflows.
    double sum = 0;
    for (size_t i = 0; i < rows.size; ++i) sum += std::exp((*values)[rows.At(row, i)] - greatest);
    // As cuDNN does for some sizes, gives 0 where all elements are minus infinity.
    const bool none = greatest == -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < rows.size; ++i) {
      double& value = (*values)[rows.At(row, i)];
      if (algorithm == CUDNN_SOFTMAX_LOG) {
        value = value - greatest - std::log(sum);
      } else {
        value = none ? 0 : std::exp(value - greatest) / sum;
      }
    }
  }
}

// As in cuDNN, the sum over a row is a float unless the data are doubles.
void Backward(const Rows& rows, cudnnSoftmaxAlgorithm_t algorithm, const Values& y, bool is_double,
              Values* dy) {
  const bool log = algorithm == CUDNN_SOFTMAX_LOG;
  for (size_t row = 0; row < rows.outer * rows.inner; ++row) {
    double sum = 0;
    for (size_t i = 0; i < rows.size; ++i) {
      const size_t at = rows.At(row, i);
      sum += log ? (*dy)[at] : (*dy)[at] * y[at];
    }
    if (!is_double) sum = static_cast<float>(sum);
    for (size_t i = 0; i < rows.size; ++i) {
      const size_t at = rows.At(row, i);
      (*dy)[at] = log ? (*dy)[at] - std::exp(y[at]) * sum : y[at] * ((*dy)[at] - sum);
    }
  }
}

bool Known(cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode) {
  return algorithm <= CUDNN_SOFTMAX_LOG && mode <= CUDNN_SOFTMAX_MODE_CHANNEL;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  const cudnnTensorDescriptor_t x_desc, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t y_desc, void* y) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && Known(algorithm, mode) && IsSet(x_desc) &&
                 IsSet(y_desc) && x_desc->layout.dims == y_desc->layout.dims &&
                 x_desc->data_type == y_desc->data_type);
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {tx, ty}, [=] {
    Values values = Read(tx);
    Forward(RowsOf(mode, tx.layout.dims), algorithm, &values);
    Write(ty, values, blend);
  });
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                   cudnnSoftmaxMode_t mode, const void* alpha,
                                   const cudnnTensorDescriptor_t y_desc, const void* y,
                                   const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                   const void* beta, const cudnnTensorDescriptor_t dx_desc,
                                   void* dx) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && Known(algorithm, mode) && IsSet(y_desc) &&
                 IsSet(dy_desc) && IsSet(dx_desc) && dy_desc->layout.dims == y_desc->layout.dims &&
                 dx_desc->layout.dims == y_desc->layout.dims);
  const Blend blend = ReadBlend(alpha, beta, dx_desc->layout.type);
  const Tensor ty{"y", y_desc->layout, y}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tdx{"dx", dx_desc->layout, dx};
  const bool is_double = y_desc->data_type == CUDNN_DATA_DOUBLE;
  return Run(handle, __func__, {ty, tdy, tdx}, [=] {
    Values values = Read(tdy);
    Backward(RowsOf(mode, ty.layout.dims), algorithm, Read(ty), is_double, &values);
    Write(tdx, values, blend);
  });
}

}  // extern "C"
