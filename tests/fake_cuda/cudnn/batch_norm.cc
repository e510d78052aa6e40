// Batch normalization, per channel or per element of an image.

#include <cmath>

#include "cudnn/descriptors.h"

namespace fakecuda {
namespace {

std::vector<int> ParameterDims(const std::vector<int>& x, cudnnBatchNormMode_t mode) {
  std::vector<int> dims = x;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d == 0 || (d > 1 && mode != CUDNN_BATCHNORM_PER_ACTIVATION)) dims[d] = 1;
  }
  return dims;
}

cudnnDataType_t ParameterType(cudnnDataType_t x) {
  return x == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

cudnnStatus_t Check(cudnnBatchNormMode_t mode, const cudnnTensorStruct* x,
                    const cudnnTensorStruct* y, const cudnnTensorStruct* parameters,
                    double epsilon) {
  FAKECUDNN_NEED(mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT && IsSet(x) && IsSet(y) &&
                 IsSet(parameters) && epsilon >= CUDNN_BN_MIN_EPSILON);
  FAKECUDNN_NEED(x->layout.dims == y->layout.dims && x->data_type == y->data_type &&
                 parameters->layout.dims == ParameterDims(x->layout.dims, mode) &&
                 parameters->data_type == ParameterType(x->data_type));
  return x->layout.dims.size() < 4 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

// Mean and variance of the batch for each parameter.
struct Moments {
  Values mean, variance;
  double count = 0;  // elements per parameter

  Moments(const Values& x, const std::vector<size_t>& parameter, size_t size)
      : mean(size), variance(size), count(static_cast<double>(x.size() / size)) {
    for (size_t i = 0; i < x.size(); ++i) mean[parameter[i]] += x[i] / count;
    for (size_t i = 0; i < x.size(); ++i) {
      const double distance = x[i] - mean[parameter[i]];
      variance[parameter[i]] += distance * distance / count;
    }
  }
};

Values InverseDeviations(const Values& variance, double epsilon) {
  Values inverse(variance.size());
  for (size_t i = 0; i < inverse.size(); ++i) inverse[i] = 1 / std::sqrt(variance[i] + epsilon);
  return inverse;
}

// running = (1 - factor) * running + factor * batch; with factor 1 the old value is not read.
void Update(const Tensor& running, const Values& batch, double factor) {
  Write(running, batch, {factor, 1 - factor});
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derived,
                                            const cudnnTensorDescriptor_t x,
                                            cudnnBatchNormMode_t mode) {
  FAKECUDNN_NEED(derived != nullptr && IsSet(x));
  const std::vector<int> dims = ParameterDims(x->layout.dims, mode);
  return cudnnSetTensorNdDescriptorEx(derived, CUDNN_TENSOR_NCHW, ParameterType(x->data_type),
                                      static_cast<int>(dims.size()), dims.data());
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t p_desc, const void* scale, const void* bias,
    const void* mean, const void* variance, double epsilon) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr);
  const cudnnStatus_t status = Check(mode, x_desc, y_desc, p_desc, epsilon);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Layout& p = p_desc->layout;
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  const Tensor ts{"scale", p, scale}, tb{"bias", p, bias};
  const Tensor tm{"estimated mean", p, mean}, tv{"estimated variance", p, variance};
  return Run(handle, __func__, {tx, ty, ts, tb, tm, tv}, [=] {
    const std::vector<size_t> parameter = BroadcastIndices(tx.layout.dims, ts.layout.dims);
    const Values scales = Read(ts), biases = Read(tb), means = Read(tm);
    const Values inverse = InverseDeviations(Read(tv), epsilon);
    Values values = Read(tx);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at = parameter[i];
      values[i] = scales[at] * (values[i] - means[at]) * inverse[at] + biases[at];
    }
    Write(ty, values, blend);
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t p_desc, const void* scale, const void* bias,
    double factor, void* running_mean, void* running_variance, double epsilon, void* save_mean,
    void* save_inverse) {
  FAKECUDNN_NEED(alpha != nullptr && beta != nullptr);
  FAKECUDNN_NEED((running_mean == nullptr) == (running_variance == nullptr) &&
                 (save_mean == nullptr) == (save_inverse == nullptr));
  const cudnnStatus_t status = Check(mode, x_desc, y_desc, p_desc, epsilon);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend blend = ReadBlend(alpha, beta, y_desc->layout.type);
  const Layout& p = p_desc->layout;
  const bool runs = running_mean != nullptr, saves = save_mean != nullptr;
  const Tensor tx{"x", x_desc->layout, x}, ty{"y", y_desc->layout, y};
  const Tensor ts{"scale", p, scale}, tb{"bias", p, bias};
  // Run checks every tensor, so an output that was not requested gets the pointer of `scale`.
  const Tensor trm{"running mean", p, runs ? running_mean : scale};
  const Tensor trv{"running variance", p, runs ? running_variance : scale};
  const Tensor tsm{"saved mean", p, saves ? save_mean : scale};
  const Tensor tsi{"saved inverse variance", p, saves ? save_inverse : scale};
  return Run(handle, __func__, {tx, ty, ts, tb, trm, trv, tsm, tsi}, [=] {
    const std::vector<size_t> parameter = BroadcastIndices(tx.layout.dims, ts.layout.dims);
    const Values scales = Read(ts), biases = Read(tb);
    Values values = Read(tx);
    const Moments moments(values, parameter, scales.size());
    const Values inverse = InverseDeviations(moments.variance, epsilon);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at = parameter[i];
      values[i] = scales[at] * (values[i] - moments.mean[at]) * inverse[at] + biases[at];
    }
    Write(ty, values, blend);
    if (runs) {
      Values unbiased = moments.variance;
      const double correction = moments.count > 1 ? moments.count / (moments.count - 1) : 1;
      for (double& value : unbiased) value *= correction;
      Update(trm, moments.mean, factor);
      Update(trv, unbiased, factor);
    }
    if (saves) {
      Write(tsm, moments.mean, Blend());
      Write(tsi, inverse, Blend());
    }
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha_data, const void* beta_data,
    const void* alpha_param, const void* beta_param, const cudnnTensorDescriptor_t x_desc,
    const void* x, const cudnnTensorDescriptor_t dy_desc, const void* dy,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t p_desc,
    const void* scale, void* dscale, void* dbias, double epsilon, const void* saved_mean,
    const void* saved_inverse) {
  FAKECUDNN_NEED(alpha_data != nullptr && beta_data != nullptr && alpha_param != nullptr &&
                 beta_param != nullptr && (saved_mean == nullptr) == (saved_inverse == nullptr));
  cudnnStatus_t status = Check(mode, x_desc, dy_desc, p_desc, epsilon);
  if (status == CUDNN_STATUS_SUCCESS) status = Check(mode, x_desc, dx_desc, p_desc, epsilon);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Blend data_blend = ReadBlend(alpha_data, beta_data, x_desc->layout.type);
  const Blend blend = ReadBlend(alpha_param, beta_param, x_desc->layout.type);
  const Layout& p = p_desc->layout;
  const bool saved = saved_mean != nullptr;
  const Tensor tx{"x", x_desc->layout, x}, tdy{"dy", dy_desc->layout, dy};
  const Tensor tdx{"dx", dx_desc->layout, dx}, ts{"scale", p, scale};
  const Tensor tds{"scale's gradient", p, dscale}, tdb{"bias's gradient", p, dbias};
  const Tensor tsm{"saved mean", p, saved ? saved_mean : scale};
  const Tensor tsi{"saved inverse variance", p, saved ? saved_inverse : scale};
  return Run(handle, __func__, {tx, tdy, tdx, ts, tds, tdb, tsm, tsi}, [=] {
    const std::vector<size_t> parameter = BroadcastIndices(tx.layout.dims, ts.layout.dims);
    const Values scales = Read(ts), values = Read(tx);
    Values gradient = Read(tdy);
    const Moments moments(values, parameter, scales.size());
    const Values mean = saved ? Read(tsm) : moments.mean;
    const Values inverse = saved ? Read(tsi) : InverseDeviations(moments.variance, epsilon);
    Values scale_sums(scales.size()), bias_sums(scales.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at = parameter[i];
      bias_sums[at] += gradient[i];
      scale_sums[at] += gradient[i] * (values[i] - mean[at]) * inverse[at];
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t at = parameter[i];
      const double normal = (values[i] - mean[at]) * inverse[at];
      gradient[i] = scales[at] * inverse[at] *
                    (gradient[i] - (bias_sums[at] + normal * scale_sums[at]) / moments.count);
    }
    Write(tdx, gradient, data_blend);
    Write(tds, scale_sums, blend);
    Write(tdb, bias_sums, blend);
  });
}

}  // extern "C"
