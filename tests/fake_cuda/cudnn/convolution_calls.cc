// Running convolutions.

#include <algorithm>
#include <cmath>

#include "cudnn/activation.h"
#include "cudnn/convolution_shape.h"

using namespace fakecuda;

namespace {

struct Workspace {
  void* data;
  size_t bytes;
};

cudnnStatus_t CheckWorkspace(const char* name, const Convolution& conv, bool wanted,
                             const Workspace& space) {
  const size_t bytes = WorkspaceBytes(conv, wanted);
  if (bytes == 0) return CUDNN_STATUS_SUCCESS;
  if (space.data == nullptr || space.bytes < bytes) {
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  }
  return CheckRange(name, "workspace", space.data, bytes) ? CUDNN_STATUS_SUCCESS
                                                          : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      const cudnnTensorDescriptor_t x_desc, const void* x,
                                      const cudnnFilterDescriptor_t w_desc, const void* w,
                                      const cudnnConvolutionDescriptor_t conv_desc,
                                      cudnnConvolutionFwdAlgo_t algo, void* workspace,
                                      size_t workspace_bytes, const void* beta,
                                      const cudnnTensorDescriptor_t y_desc, void* y) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && algo < CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
  Convolution conv;
  cudnnStatus_t status = MakeConvolution(conv_desc, x_desc, w_desc, y_desc, &conv);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = CheckWorkspace(__func__, conv, WantsWorkspace(algo), {workspace, workspace_bytes});
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, tw{"w", w_desc->layout, w}, ty{"y", y_desc->layout, y};
  return Run(handle, __func__, {tx, tw, ty},
             [=] { Write(ty, ConvolutionForward(conv, Read(tx), Read(tw)), blend); });
}

// y = activation(alpha1 * conv(x, w) + alpha2 * z + bias)
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnFilterDescriptor_t w_desc, const void* w,
    const cudnnConvolutionDescriptor_t conv_desc, cudnnConvolutionFwdAlgo_t algo, void* workspace,
    size_t workspace_bytes, const void* alpha2, const cudnnTensorDescriptor_t z_desc, const void* z,
    const cudnnTensorDescriptor_t bias_desc, const void* bias,
    const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y_desc, void* y) {
  FAKECUDNN_NEED(alpha1 != nullptr && alpha2 != nullptr && activation != nullptr && IsSet(z_desc) &&
                 IsSet(bias_desc));
  Convolution conv;
  cudnnStatus_t status = MakeConvolution(conv_desc, x_desc, w_desc, y_desc, &conv);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = CheckWorkspace(__func__, conv, WantsWorkspace(algo), {workspace, workspace_bytes});
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  FAKECUDNN_NEED(z_desc->layout.dims == y_desc->layout.dims && bias_desc->layout.size() == conv.k &&
                 bias_desc->layout.dims[1] == conv.k);
  if (activation->mode != CUDNN_ACTIVATION_RELU && activation->mode != CUDNN_ACTIVATION_IDENTITY) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  if (activation->mode == CUDNN_ACTIVATION_IDENTITY &&
      algo != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const Blend blend = ReadBlend(alpha1, alpha2, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, tw{"w", w_desc->layout, w}, ty{"y", y_desc->layout, y};
  const Tensor tz{"z", z_desc->layout, z}, tb{"bias", bias_desc->layout, bias};
  const cudnnActivationStruct act = *activation;
  return Run(handle, __func__, {tx, tw, ty, tz, tb}, [=] {
    Values values = ConvolutionForward(conv, Read(tx), Read(tw));
    const Values addend = Read(tz), biases = Read(tb);
    const std::vector<size_t> channel = BroadcastIndices(ty.layout.dims, tb.layout.dims);
    for (size_t i = 0; i < values.size(); ++i) {
      const double more = blend.beta == 0 ? 0 : blend.beta * addend[i];
      values[i] = Activate(act, blend.alpha * values[i] + more + biases[channel[i]]);
    }
    Write(ty, values, Blend());
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           const cudnnFilterDescriptor_t w_desc, const void* w,
                                           const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           const cudnnConvolutionDescriptor_t conv_desc,
                                           cudnnConvolutionBwdDataAlgo_t algo, void* workspace,
                                           size_t workspace_bytes, const void* beta,
                                           const cudnnTensorDescriptor_t dx_desc, void* dx) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr &&
                 algo < CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT);
  Convolution conv;
  cudnnStatus_t status = MakeConvolution(conv_desc, dx_desc, w_desc, dy_desc, &conv);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = CheckWorkspace(__func__, conv, WantsWorkspace(algo), {workspace, workspace_bytes});
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, dx_desc->layout.type);
  const Tensor tw{"w", w_desc->layout, w}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tdx{"dx", dx_desc->layout, dx};
  return Run(handle, __func__, {tw, tdy, tdx},
             [=] { Write(tdx, ConvolutionBackwardData(conv, Read(tdy), Read(tw)), blend); });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t x_desc, const void* x,
                                             const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const cudnnConvolutionDescriptor_t conv_desc,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void* workspace,
                                             size_t workspace_bytes, const void* beta,
                                             const cudnnFilterDescriptor_t dw_desc, void* dw) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr &&
                 algo < CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT);
  Convolution conv;
  cudnnStatus_t status = MakeConvolution(conv_desc, x_desc, dw_desc, dy_desc, &conv);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = CheckWorkspace(__func__, conv, WantsWorkspace(algo), {workspace, workspace_bytes});
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, dw_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tdw{"dw", dw_desc->layout, dw};
  return Run(handle, __func__, {tx, tdy, tdw},
             [=] { Write(tdw, ConvolutionBackwardFilter(conv, Read(tx), Read(tdy)), blend); });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                           const void* beta, const cudnnTensorDescriptor_t db_desc,
                                           void* db) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr && IsSet(dy_desc) && IsSet(db_desc));
  FAKECUDNN_NEED(dy_desc->data_type == db_desc->data_type);
  const std::vector<int>& dims = db_desc->layout.dims;
  FAKECUDNN_NEED(dims.size() == dy_desc->layout.dims.size() && dims.size() >= 2);
  for (size_t d = 0; d < dims.size(); ++d) {
    FAKECUDNN_NEED(dims[d] == (d == 1 ? dy_desc->layout.dims[1] : 1));
  }
  const Blend blend = ReadBlend(alpha, beta, db_desc->layout.type);
  const Tensor tdy{"dy", dy_desc->layout, dy}, tdb{"db", db_desc->layout, db};
  return Run(handle, __func__, {tdy, tdb}, [=] {
    const Values values = Read(tdy);
    const std::vector<size_t> channel = BroadcastIndices(tdy.layout.dims, tdb.layout.dims);
    Values sums(static_cast<size_t>(tdb.layout.size()));
    for (size_t i = 0; i < values.size(); ++i) sums[channel[i]] += values[i];
    Write(tdb, sums, blend);
  });
}

}  // extern "C"
