// Pooling over one to three spatial dimensions.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

using Sizes = std::array<int, 3>;

struct Pooling {
  cudnnPoolingMode_t mode;
  bool keep_nan;
  size_t planes;  // images times channels
  Sizes in, out, window, pad, stride;

  bool max() const { return mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC; }
};

size_t Product(const Sizes& sizes) {
  return static_cast<size_t>(sizes[0]) * static_cast<size_t>(sizes[1]) *
         static_cast<size_t>(sizes[2]);
}

// Extends spatial sizes to three by leading values of `filler`.
Sizes Widen(const std::vector<int>& sizes, size_t skip, int filler) {
  Sizes wide = {filler, filler, filler};
  for (size_t d = skip; d < sizes.size(); ++d)
    wide[3 - (sizes.size() - skip) + d - skip] = sizes[d];
  return wide;
}

std::vector<int> OutputDims(const cudnnPoolingStruct& pooling, const std::vector<int>& x) {
  std::vector<int> y = {x[0], x[1]};
  for (size_t d = 0; d < pooling.window.size(); ++d) {
    const int room = x[d + 2] + 2 * pooling.pad[d] - pooling.window[d];
    y.push_back(room < 0 ? 0 : room / pooling.stride[d] + 1);
  }
  return y;
}

cudnnStatus_t MakePooling(const cudnnPoolingStruct* descriptor, const cudnnTensorStruct* x,
                          const cudnnTensorStruct* y, Pooling* pooling) {
  FAKECUDNN_NEED(descriptor != nullptr && IsSet(x) && IsSet(y));
  const std::vector<int>&xd = x->layout.dims, &yd = y->layout.dims;
  FAKECUDNN_NEED(!descriptor->window.empty() && xd.size() == descriptor->window.size() + 2 &&
                 yd.size() == xd.size() && xd[0] == yd[0] && xd[1] == yd[1] &&
                 x->data_type == y->data_type);
  if (descriptor->window.size() > 3) return CUDNN_STATUS_NOT_SUPPORTED;
  for (size_t d = 0; d < descriptor->window.size(); ++d) {
    // Every window must overlap the input.
    const int first = -descriptor->pad[d] + (yd[d + 2] - 1) * descriptor->stride[d];
    FAKECUDNN_NEED(first < xd[d + 2] && descriptor->window[d] > descriptor->pad[d]);
  }
  pooling->mode = descriptor->mode;
  pooling->keep_nan = descriptor->nan == CUDNN_PROPAGATE_NAN;
  pooling->planes = static_cast<size_t>(xd[0]) * static_cast<size_t>(xd[1]);
  pooling->in = Widen(xd, 2, 1);
  pooling->out = Widen(yd, 2, 1);
  pooling->window = Widen(descriptor->window, 0, 1);
  pooling->pad = Widen(descriptor->pad, 0, 0);
  pooling->stride = Widen(descriptor->stride, 0, 1);
  return CUDNN_STATUS_SUCCESS;
}

// Calls function(output index, input indices of its window) for all outputs.
template <class Function>
void ForEachWindow(const Pooling& p, Function function) {
  const size_t in = Product(p.in);
  std::vector<size_t> window;
  size_t output = 0;
  for (size_t plane = 0; plane < p.planes; ++plane) {
    for (int i = 0; i < p.out[0]; ++i) {
      for (int j = 0; j < p.out[1]; ++j) {
        for (int k = 0; k < p.out[2]; ++k, ++output) {
          const Sizes at = {i, j, k};
          Sizes begin, end;
          for (size_t d = 0; d < 3; ++d) {
            const int start = at[d] * p.stride[d] - p.pad[d];
            begin[d] = std::max(start, 0);
            end[d] = std::min(start + p.window[d], p.in[d]);
          }
          window.clear();
          for (int a = begin[0]; a < end[0]; ++a) {
            for (int b = begin[1]; b < end[1]; ++b) {
              for (int c = begin[2]; c < end[2]; ++c) {
                window.push_back(plane * in + static_cast<size_t>((a * p.in[1] + b) * p.in[2] + c));
              }
            }
          }
          function(output, window);
        }
      }
    }
  }
}

// The index of the greatest element, the first one among equals.
size_t Greatest(const Pooling& p, const Values& x, const std::vector<size_t>& window) {
  size_t best = window.front();
  for (const size_t i : window) {
    if (std::isnan(x[best])) {
      if (p.keep_nan) return best;
      best = i;
    } else if (x[i] > x[best] || (p.keep_nan && std::isnan(x[i]))) {
      best = i;
    }
  }
  return best;
}

double Divisor(const Pooling& p, const std::vector<size_t>& window) {
  return static_cast<double>(
      p.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? Product(p.window) : window.size());
}

Values Forward(const Pooling& p, const Values& x) {
  Values y(p.planes * Product(p.out));
  ForEachWindow(p, [&](size_t output, const std::vector<size_t>& window) {
    if (p.max()) {
      const double value = x[Greatest(p, x, window)];
      y[output] = std::isnan(value) && !p.keep_nan ? std::numeric_limits<double>::lowest() : value;
      return;
    }
    double sum = 0;
    for (const size_t i : window) sum += x[i];
    y[output] = sum / Divisor(p, window);
  });
  return y;
}

Values Backward(const Pooling& p, const Values& x, const Values& dy) {
  Values dx(p.planes * Product(p.in));
  ForEachWindow(p, [&](size_t output, const std::vector<size_t>& window) {
    if (p.max()) {
      dx[Greatest(p, x, window)] += dy[output];
      return;
    }
    for (const size_t i : window) dx[i] += dy[output] / Divisor(p, window);
  });
  return dx;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnPoolingStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t descriptor,
                                          const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t nan, int rank,
                                          const int windows[], const int pads[],
                                          const int strides[]) {
  FAKECUDNN_NEED(descriptor != nullptr && rank > 0 && windows != nullptr && pads != nullptr &&
                 strides != nullptr && mode <= CUDNN_POOLING_MAX_DETERMINISTIC);
  if (rank > CUDNN_DIM_MAX - 2) return CUDNN_STATUS_NOT_SUPPORTED;
  for (int d = 0; d < rank; ++d) FAKECUDNN_NEED(windows[d] > 0 && strides[d] > 0);
  descriptor->mode = mode;
  descriptor->nan = nan;
  descriptor->window.assign(windows, windows + rank);
  descriptor->pad.assign(pads, pads + rank);
  descriptor->stride.assign(strides, strides + rank);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t descriptor,
                                          cudnnPoolingMode_t mode, cudnnNanPropagation_t nan,
                                          int window_h, int window_w, int pad_h, int pad_w,
                                          int stride_h, int stride_w) {
  const int windows[] = {window_h, window_w}, pads[] = {pad_h, pad_w};
  const int strides[] = {stride_h, stride_w};
  return cudnnSetPoolingNdDescriptor(descriptor, mode, nan, 2, windows, pads, strides);
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t descriptor,
                                                const cudnnTensorDescriptor_t x, int rank,
                                                int dims[]) {
  FAKECUDNN_NEED(descriptor != nullptr && IsSet(x) && dims != nullptr &&
                 x->layout.dims.size() == descriptor->window.size() + 2 &&
                 rank == static_cast<int>(x->layout.dims.size()));
  const std::vector<int> out = OutputDims(*descriptor, x->layout.dims);
  std::copy(out.begin(), out.end(), dims);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t descriptor,
                                                const cudnnTensorDescriptor_t x, int* n, int* c,
                                                int* h, int* w) {
  int dims[4] = {};
  const cudnnStatus_t status = cudnnGetPoolingNdForwardOutputDim(descriptor, x, 4, dims);
  *n = dims[0];
  *c = dims[1];
  *h = dims[2];
  *w = dims[3];
  return status;
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t descriptor,
                                  const void* alpha, const cudnnTensorDescriptor_t x_desc,
                                  const void* x, const void* beta,
                                  const cudnnTensorDescriptor_t y_desc, void* y) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr);
  Pooling pooling;
  const cudnnStatus_t status = MakePooling(descriptor, x_desc, y_desc, &pooling);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {tx, ty}, [=] { Write(ty, Forward(pooling, Read(tx)), blend); });
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t descriptor,
                                   const void* alpha, const cudnnTensorDescriptor_t y_desc,
                                   const void* y, const cudnnTensorDescriptor_t dy_desc,
                                   const void* dy, const cudnnTensorDescriptor_t x_desc,
                                   const void* x, const void* beta,
                                   const cudnnTensorDescriptor_t dx_desc, void* dx) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && IsSet(dy_desc) && IsSet(dx_desc));
  Pooling pooling;
  const cudnnStatus_t status = MakePooling(descriptor, x_desc, y_desc, &pooling);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  FAKECUDNN_NEED(dy_desc->layout.dims == y_desc->layout.dims &&
                 dx_desc->layout.dims == x_desc->layout.dims);
  const Blend blend = ReadBlend(alpha, beta, dx_desc->layout.type);
  const Tensor ty{"y", y_desc->layout, y}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tx{"x", x_desc->layout, x}, tdx{"dx", dx_desc->layout, dx};
  return Run(handle, __func__, {ty, tdy, tx, tdx},
             [=] { Write(tdx, Backward(pooling, Read(tx), Read(tdy)), blend); });
}

}  // extern "C"
