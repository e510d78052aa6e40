#include "cudnn/activation.h"

#include <algorithm>
#include <cmath>

namespace fakecuda {

double Activate(const cudnnActivationStruct& activation, double x) {
  const bool keep_nan = activation.nan == CUDNN_PROPAGATE_NAN;
  switch (activation.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case CUDNN_ACTIVATION_RELU:
      if (std::isnan(x)) return keep_nan ? x : 0;
      return std::max(x, 0.0);
    case CUDNN_ACTIVATION_TANH:
      return std::tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      if (std::isnan(x)) return keep_nan ? x : 0;
      return std::min(std::max(x, 0.0), activation.coefficient);
    case CUDNN_ACTIVATION_ELU:
      return x >= 0 ? x : activation.coefficient * std::expm1(x);
    case CUDNN_ACTIVATION_SWISH:
      return x / (1 + std::exp(-activation.swish_beta * x));
    default:
      return x;
  }
}

double ActivateGradient(const cudnnActivationStruct& activation, double y, double dy, double x) {
  switch (activation.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return dy * y * (1 - y);
    case CUDNN_ACTIVATION_RELU:
      return x > 0 ? dy : 0;
    case CUDNN_ACTIVATION_TANH:
      return dy * (1 - y * y);
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return x > 0 && x < activation.coefficient ? dy : 0;
    case CUDNN_ACTIVATION_ELU:
      return x >= 0 ? dy : dy * (y + activation.coefficient);
    case CUDNN_ACTIVATION_SWISH: {
      const double gate = 1 / (1 + std::exp(-activation.swish_beta * x));
      return dy * (gate + activation.swish_beta * x * gate * (1 - gate));
    }
    default:
      return dy;
  }
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new cudnnActivationStruct;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t descriptor,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t nan,
                                           double coefficient) {
  FAKECUDNN_NEED(descriptor != nullptr && mode <= CUDNN_ACTIVATION_SWISH);
  FAKECUDNN_NEED(nan == CUDNN_NOT_PROPAGATE_NAN || nan == CUDNN_PROPAGATE_NAN);
  *descriptor = {mode, nan, coefficient, 1};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t descriptor,
                                           cudnnActivationMode_t* mode, cudnnNanPropagation_t* nan,
                                           double* coefficient) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *mode = descriptor->mode;
  *nan = descriptor->nan;
  *coefficient = descriptor->coefficient;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t descriptor,
                                     const void* alpha, const cudnnTensorDescriptor_t x_desc,
                                     const void* x, const void* beta,
                                     const cudnnTensorDescriptor_t y_desc, void* y) {
  FAKECUDNN_NEED(descriptor != nullptr && alpha != nullptr && beta != nullptr && IsSet(x_desc) &&
                 IsSet(y_desc) && x_desc->layout.dims == y_desc->layout.dims &&
                 x_desc->data_type == y_desc->data_type);
  FAKECUDNN_NEED(x != y || x_desc->layout == y_desc->layout);
  if (descriptor->mode == CUDNN_ACTIVATION_IDENTITY) return CUDNN_STATUS_BAD_PARAM;
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  const cudnnActivationStruct activation = *descriptor;
  return Run(handle, __func__, {tx, ty}, [=] {
    Values values = Read(tx);
    for (double& value : values) value = Activate(activation, value);
    Write(ty, values, blend);
  });
}

cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle, cudnnActivationDescriptor_t descriptor,
                                      const void* alpha, const cudnnTensorDescriptor_t y_desc,
                                      const void* y, const cudnnTensorDescriptor_t dy_desc,
                                      const void* dy, const cudnnTensorDescriptor_t x_desc,
                                      const void* x, const void* beta,
                                      const cudnnTensorDescriptor_t dx_desc, void* dx) {
  FAKECUDNN_NEED(descriptor != nullptr && alpha != nullptr && beta != nullptr && IsSet(y_desc) &&
                 IsSet(dy_desc) && IsSet(x_desc) && IsSet(dx_desc));
  const std::vector<int>& dims = y_desc->layout.dims;
  FAKECUDNN_NEED(dy_desc->layout.dims == dims && x_desc->layout.dims == dims &&
                 dx_desc->layout.dims == dims);
  if (descriptor->mode == CUDNN_ACTIVATION_IDENTITY) return CUDNN_STATUS_BAD_PARAM;
  const Blend blend = ReadBlend(alpha, beta, dx_desc->layout.type);
  const Tensor ty{"y", y_desc->layout, y}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tx{"x", x_desc->layout, x}, tdx{"dx", dx_desc->layout, dx};
  const cudnnActivationStruct activation = *descriptor;
  return Run(handle, __func__, {ty, tdy, tx, tdx}, [=] {
    const Values y_values = Read(ty), x_values = Read(tx);
    Values values = Read(tdy);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = ActivateGradient(activation, y_values[i], values[i], x_values[i]);
    }
    Write(tdx, values, blend);
  });
}

}  // extern "C"
