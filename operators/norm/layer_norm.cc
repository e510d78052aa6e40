#include "operators/norm/layer_norm.h"

#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void NormalizeAffine(const float* x, int64_t n, float mean, float scale,
                                   const float* gamma, const float* beta, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

std::vector<TensorShape> InferLayerNorm(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X), want at least 2");
  const int axis = canonical_axis_index_(ArgumentHelper(def).Read(kLayerNormAxis),
                                         static_cast<int>(dims.size()));
  dims.resize(static_cast<size_t>(axis));
  dims.push_back(1);
  const TensorShape statistics = CreateTensorShape(dims, in[0].data_type());
  return {in[0], statistics, statistics};
}

}  // namespace

void NormalizeLayers(CPUContext&, int64_t rows, int64_t n, float epsilon, const float* x,
                     const float* gamma, const float* beta, float* y, float* mean, float* std) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const Moments moments = MomentsOf(x, n);
    mean[r] = static_cast<float>(moments.mean);
    std[r] = std::sqrt(static_cast<float>(moments.variance()) + epsilon);
    if (gamma != nullptr) {
      NormalizeAffine(x, n, mean[r], 1 / std[r], gamma, beta, y);
    } else {
      NormalizeRow(x, n, mean[r], 1 / std[r], 0, y);
    }
  }
}

void NormalizeLayers(CPUContext&, int64_t rows, int64_t n, float epsilon, const double* x,
                     const double* gamma, const double* beta, double* y, double* mean,
                     double* std) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const Moments moments = MomentsOf(x, n);
    mean[r] = moments.mean;
    std[r] = std::sqrt(moments.variance() + static_cast<double>(epsilon));
    for (int64_t i = 0; i < n; ++i) {
      const double normal = (x[i] - mean[r]) / std[r];
      y[i] = gamma != nullptr ? normal * gamma[i] + beta[i] : normal;
    }
  }
}

void RegisterLayerNorm() {
  RegisterSchema("LayerNorm", __FILE__)
      .NumInputs({1, 3})
      .NumOutputs(3)
      .Args(kLayerNormAxis, kLayerNormEpsilon, kLayerNormAffine)
      .Input(0, "input", "[M.., N..], where N.. begins at axis")
      .Input(1, "gamma", "scales, [N..]; only with elementwise_affine")
      .Input(2, "beta", "biases, [N..]; only with elementwise_affine")
      .Output(0, "output", "the shape of the input")
      .Output(1, "mean", "mean of each row, [M.., 1]")
      .Output(2, "stddev", "sqrt(variance + epsilon) of each row, [M.., 1]")
      .TensorInferenceFunction(InferLayerNorm)
      .CostInferenceFunction(PointwiseCostInference<6>)
      .SetDoc(
          "Layer normalization: (x - mean) / sqrt(var + epsilon), where mean and biased variance "
          "are computed over all dimensions from axis on. With elementwise_affine, the result is "
          "multiplied by gamma, and beta is added.");
  RegisterCpuOperator<LayerNormOp<CPUContext>>("LayerNorm", __FILE__);
}

}  // namespace caffe2rt
