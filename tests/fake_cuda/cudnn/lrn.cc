// Local response normalization across channels: y = x / (k + alpha / n * sum of squares) ^ beta.

#include <algorithm>
#include <cmath>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

// Images of `channels` planes of `inner` elements.
struct Planes {
  size_t images, channels, inner;
};

Planes PlanesOf(const std::vector<int>& dims) {
  Planes planes = {static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1]), 1};
  for (size_t d = 2; d < dims.size(); ++d) planes.inner *= static_cast<size_t>(dims[d]);
  return planes;
}

// Calls function(base, c, begin, end) for every element: `base` is the index of the element's
// position in channel 0, and channels [begin, end) are the window of channel c. A window of even
// size reaches one channel further ahead than back; with `mirrored`, further back.
template <class Function>
void ForEachWindow(const Planes& planes, size_t n, bool mirrored, Function function) {
  const size_t back = mirrored ? n - (n - 1) / 2 - 1 : (n - 1) / 2;
  const size_t ahead = n - 1 - back;
  for (size_t image = 0; image < planes.images; ++image) {
    for (size_t i = 0; i < planes.inner; ++i) {
      const size_t base = image * planes.channels * planes.inner + i;
      for (size_t c = 0; c < planes.channels; ++c) {
        function(base, c, c < back ? 0 : c - back, std::min(planes.channels, c + ahead + 1));
      }
    }
  }
}

Values Scales(const cudnnLRNStruct& lrn, const Planes& planes, const Values& x) {
  Values scales(x.size());
  ForEachWindow(planes, lrn.n, false, [&](size_t base, size_t c, size_t begin, size_t end) {
    double sum = 0;
    for (size_t j = begin; j < end; ++j) {
      sum += x[base + j * planes.inner] * x[base + j * planes.inner];
    }
    scales[base + c * planes.inner] = lrn.k + lrn.alpha / lrn.n * sum;
  });
  return scales;
}

Values Forward(const cudnnLRNStruct& lrn, const Planes& planes, const Values& x) {
  Values y = Scales(lrn, planes, x);
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] * std::pow(y[i], -lrn.beta);
  return y;
}

// As cuDNN does, computes y again from x, and does not read the given one.
Values Backward(const cudnnLRNStruct& lrn, const Planes& planes, const Values& x,
                const Values& dy) {
  const Values scales = Scales(lrn, planes, x), y = Forward(lrn, planes, x);
  Values dx(x.size());
  // The channels whose windows contain c are those of the mirrored window.
  ForEachWindow(planes, lrn.n, true, [&](size_t base, size_t c, size_t begin, size_t end) {
    double sum = 0;
    for (size_t j = begin; j < end; ++j) {
      const size_t at = base + j * planes.inner;
      sum += dy[at] * y[at] / scales[at];
    }
    const size_t at = base + c * planes.inner;
    dx[at] =
        dy[at] * std::pow(scales[at], -lrn.beta) - 2 * lrn.alpha * lrn.beta / lrn.n * x[at] * sum;
  });
  return dx;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnLRNStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t descriptor, unsigned n, double alpha,
                                    double beta, double k) {
  FAKECUDNN_NEED(descriptor != nullptr && n >= CUDNN_LRN_MIN_N && n <= CUDNN_LRN_MAX_N &&
                 beta >= CUDNN_LRN_MIN_BETA && k >= CUDNN_LRN_MIN_K);
  *descriptor = {n, alpha, beta, k};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t descriptor, unsigned* n, double* alpha,
                                    double* beta, double* k) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *n = descriptor->n;
  *alpha = descriptor->alpha;
  *beta = descriptor->beta;
  *k = descriptor->k;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t descriptor,
                                          cudnnLRNMode_t mode, const void* alpha,
                                          const cudnnTensorDescriptor_t x_desc, const void* x,
                                          const void* beta, const cudnnTensorDescriptor_t y_desc,
                                          void* y) {
  FAKECUDNN_NEED(descriptor != nullptr && mode == CUDNN_LRN_CROSS_CHANNEL_DIM1 &&
                 alpha != nullptr && beta != nullptr && IsSet(x_desc) && IsSet(y_desc) &&
                 x_desc->layout.dims == y_desc->layout.dims && x_desc->layout.dims.size() >= 4);
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  const cudnnLRNStruct lrn = *descriptor;
  return Run(handle, __func__, {tx, ty},
             [=] { Write(ty, Forward(lrn, PlanesOf(tx.layout.dims), Read(tx)), blend); });
}

cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t descriptor,
                                           cudnnLRNMode_t mode, const void* alpha,
                                           const cudnnTensorDescriptor_t y_desc, const void* y,
                                           const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           const cudnnTensorDescriptor_t x_desc, const void* x,
                                           const void* beta, const cudnnTensorDescriptor_t dx_desc,
                                           void* dx) {
  FAKECUDNN_NEED(descriptor != nullptr && mode == CUDNN_LRN_CROSS_CHANNEL_DIM1 &&
                 alpha != nullptr && beta != nullptr && IsSet(x_desc) && IsSet(y_desc) &&
                 IsSet(dy_desc) && IsSet(dx_desc));
  const std::vector<int>& dims = x_desc->layout.dims;
  FAKECUDNN_NEED(dims.size() >= 4 && y_desc->layout.dims == dims && dy_desc->layout.dims == dims &&
                 dx_desc->layout.dims == dims);
  const Blend blend = ReadBlend(alpha, beta, dx_desc->layout.type);
  const Tensor ty{"y", y_desc->layout, y}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tx{"x", x_desc->layout, x}, tdx{"dx", dx_desc->layout, dx};
  const cudnnLRNStruct lrn = *descriptor;
  return Run(handle, __func__, {ty, tdy, tx, tdx}, [=] {
    Write(tdx, Backward(lrn, PlanesOf(tx.layout.dims), Read(tx), Read(tdy)), blend);
  });
}

}  // extern "C"
