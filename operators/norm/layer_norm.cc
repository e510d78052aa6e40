#include "operators/norm/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/norm/moments.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void NormalizeAffine(const float* x, int64_t n, float mean, float scale,
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

// Sets *sum and *product to the sums of g and of g * (x - mean), where g = gamma * dy. gamma may be
// null. The sums of a block are formed in float, those of the blocks in double.
CAFFE2RT_SIMD_FMA void LayerSums(const float* x, const float* dy, const float* gamma, int64_t n,
                                 float mean, double* sum, double* product) {
  constexpr int64_t kBlock = 4096;
  *sum = *product = 0;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(start + kBlock, n);
    math::Lanes v, g, factor, sums = {}, products = {};
    int64_t i = start;
    for (; i + math::kLanes <= end; i += math::kLanes) {
      math::Load(x + i, v);
      math::Load(dy + i, g);
      if (gamma != nullptr) {
        math::Load(gamma + i, factor);
        g *= factor;
      }
      v -= mean;
      sums += g;
      products += g * v;
    }
    float rest = 0, rest_products = 0;
    for (; i < end; ++i) {
      const float value = gamma != nullptr ? gamma[i] * dy[i] : dy[i];
      rest += value;
      rest_products += value * (x[i] - mean);
    }
    *sum += math::Sum(sums) + rest;
    *product += math::Sum(products) + rest_products;
  }
}

// dx = inverse * (dy - shift - (x - mean) * slope).
CAFFE2RT_SIMD_FMA void PlainLayerGradient(const float* x, const float* dy, int64_t n, float mean,
                                          float inverse, float slope, float shift, float* dx) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) dx[i] = inverse * (dy[i] - shift - (x[i] - mean) * slope);
}

// The same with gamma * dy. Adds to dgamma and dbeta.
CAFFE2RT_SIMD_FMA void AffineLayerGradient(const float* x, const float* dy, const float* gamma,
                                           int64_t n, float mean, float inverse, float slope,
                                           float shift, float* dx, float* dgamma, float* dbeta) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const float distance = x[i] - mean;
    dx[i] = inverse * (gamma[i] * dy[i] - shift - distance * slope);
    dgamma[i] += dy[i] * distance * inverse;
    dbeta[i] += dy[i];
  }
}

std::vector<TensorShape> InferLayerNormGradient(const OperatorDef& def,
                                                const std::vector<TensorShape>& in) {
  if (!AreKnown(in, static_cast<size_t>(def.output_size() == 1 ? 5 : 6))) {
    return UnknownOutputs(def);
  }
  std::vector<TensorShape> out{in[4]};
  if (def.output_size() > 1) out.resize(static_cast<size_t>(def.output_size()), in[5]);
  return out;
}

class GetLayerNormGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {GO(0), O(0), O(1), O(2), I(0)}, outputs = {GI(0)};
    if (ArgumentHelper(def_).Read(kLayerNormAffine)) {
      inputs.push_back(I(1));
      outputs.push_back(GI(1));
      outputs.push_back(GI(2));
    }
    return SingleGradientDef("LayerNormGradient", "", inputs, outputs);
  }
};

// C10LayerNorm_DontUseThisOpYet is the same operator, but has no gradient.
void RegisterLayerNormAs(const char* type) {
  RegisterSchema(type, __FILE__)
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
  RegisterCpuOperator<LayerNormOp<CPUContext>>(type, __FILE__);
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

void GradientOfLayers(CPUContext&, int64_t rows, int64_t n, const LayerGradient& gradient) {
  if (gradient.gamma != nullptr) {
    std::fill_n(gradient.dgamma, n, 0.0f);
    std::fill_n(gradient.dbeta, n, 0.0f);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const float* const x = gradient.x + r * n;
    const float* const dy = gradient.dy + r * n;
    const float mean = gradient.mean[r], inverse = 1 / gradient.std[r];
    double sum, product;
    LayerSums(x, dy, gradient.gamma, n, mean, &sum, &product);
    const double count = static_cast<double>(n);
    const float shift = static_cast<float>(sum / count);
    const float slope = static_cast<float>(product / count) * inverse * inverse;
    if (gradient.gamma == nullptr) {
      PlainLayerGradient(x, dy, n, mean, inverse, slope, shift, gradient.dx + r * n);
    } else {
      AffineLayerGradient(x, dy, gradient.gamma, n, mean, inverse, slope, shift,
                          gradient.dx + r * n, gradient.dgamma, gradient.dbeta);
    }
  }
}

void RegisterLayerNorm() {
  RegisterLayerNormAs("LayerNorm");
  RegisterLayerNormAs("C10LayerNorm_DontUseThisOpYet");

  RegisterSchema("LayerNormGradient", __FILE__)
      .NumInputs({5, 6})
      .NumOutputs({1, 3})
      .Args(kLayerNormAxis, kLayerNormEpsilon, kLayerNormAffine)
      .Input(0, "dY", "gradient of Y")
      .Input(1, "Y", "not used")
      .Input(2, "mean", "mean of each row")
      .Input(3, "std", "sqrt(variance + epsilon) of each row")
      .Input(4, "X", "input of LayerNorm")
      .Input(5, "gamma", "scales; only with elementwise_affine")
      .Output(0, "dX", "gradient of X")
      .Output(1, "dgamma", "gradient of gamma; only with elementwise_affine")
      .Output(2, "dbeta", "gradient of beta; only with elementwise_affine")
      .TensorInferenceFunction(InferLayerNormGradient)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .SetDoc("Computes the gradients of LayerNorm.");
  RegisterCpuOperator<LayerNormGradientOp<CPUContext>>("LayerNormGradient", __FILE__);
  RegisterGradient<GetLayerNormGradient>("LayerNorm", __FILE__);
}

}  // namespace caffe2rt
