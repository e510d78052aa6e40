#include "operators/norm/instance_norm.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

float InverseStd(const Moments& moments, float epsilon) {
  return 1 / std::sqrt(static_cast<float>(moments.variance()) + epsilon);
}

// Normalizes one image in NCHW: the elements of a group are contiguous.
void NormalizePlanes(const Channels& shape, int64_t groups, float epsilon, const float* x,
                     const float* scale, const float* bias, float* y, float* mean, float* inv_std) {
  const int64_t per_group = shape.count / groups, n = shape.positions;
  for (int64_t g = 0; g < groups; ++g) {
    const Moments moments = MomentsOf(x, per_group * n);
    const float middle = static_cast<float>(moments.mean);
    const float inverse = InverseStd(moments, epsilon);
    if (mean != nullptr) mean[g] = middle;
    if (inv_std != nullptr) inv_std[g] = inverse;
    for (int64_t c = g * per_group; c < (g + 1) * per_group; ++c, x += n, y += n) {
      NormalizeRow(x, n, middle, scale[c] * inverse, bias[c], y);
    }
  }
}

// Normalizes one image in NHWC: channels are columns.
void NormalizeImageColumns(const Channels& shape, int64_t groups, float epsilon, const float* x,
                           const float* scale, const float* bias, NormScratch* scratch, float* y,
                           float* mean, float* inv_std) {
  const int64_t per_group = shape.count / groups;
  float* const means = scratch->floats.data();
  float* const factors = means + shape.count;
  ColumnMoments(x, shape.positions, shape.count, means, scratch->moments.data());
  for (int64_t g = 0; g < groups; ++g) {
    Moments moments;
    for (int64_t c = g * per_group; c < (g + 1) * per_group; ++c) {
      moments.Merge(scratch->moments[static_cast<size_t>(c)]);
    }
    const float middle = static_cast<float>(moments.mean);
    const float inverse = InverseStd(moments, epsilon);
    if (mean != nullptr) mean[g] = middle;
    if (inv_std != nullptr) inv_std[g] = inverse;
    for (int64_t c = g * per_group; c < (g + 1) * per_group; ++c) {
      means[c] = middle;
      factors[c] = scale[c] * inverse;
    }
  }
  NormalizeColumns(x, shape.positions, shape.count, means, factors, bias, y);
}

std::vector<TensorShape> InferInstanceNorm(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X), want at least 2");
  const StorageOrder order = ReadStorageOrder(ArgumentHelper(def));
  const std::vector<int64_t> saved{dims[0], order == StorageOrder::NHWC ? dims.back() : dims[1]};
  std::vector<TensorShape> out{in[0]};
  out.resize(static_cast<size_t>(def.output_size()), CreateTensorShape(saved, TensorProto::FLOAT));
  return out;
}

std::vector<TensorShape> InferInstanceNormGradient(const OperatorDef& def,
                                                   const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  return {in[0], in[1], in[1]};
}

// The saved mean and deviation are passed if the operator has them.
class GetInstanceNormGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {I(0), I(1), I(2), GO(0)};
    for (int i = 1; i < def_.output_size(); ++i) inputs.push_back(O(i));
    return SingleGradientDef("InstanceNormGradient", "", inputs,
                             std::vector<std::string>{GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void NormalizeGroups(CPUContext&, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch* scratch,
                     float* y, float* mean, float* inv_std) {
  if (shape.last) {
    scratch->moments.resize(static_cast<size_t>(shape.count));
    scratch->floats.resize(2 * static_cast<size_t>(shape.count));
  }
  const int64_t image = shape.count * shape.positions;
  if (shape.batch * image == 0) {
    if (mean != nullptr) std::fill_n(mean, shape.batch * groups, 0.0f);
    if (inv_std != nullptr) {
      std::fill_n(inv_std, shape.batch * groups, InverseStd(Moments{}, epsilon));
    }
    return;
  }
  for (int64_t i = 0; i < shape.batch; ++i, x += image, y += image) {
    if (shape.last) {
      NormalizeImageColumns(shape, groups, epsilon, x, scale, bias, scratch, y, mean, inv_std);
    } else {
      NormalizePlanes(shape, groups, epsilon, x, scale, bias, y, mean, inv_std);
    }
    if (mean != nullptr) mean += groups;
    if (inv_std != nullptr) inv_std += groups;
  }
}

void RegisterInstanceNorm() {
  RegisterSchema("InstanceNorm", __FILE__)
      .NumInputs(3)
      .NumOutputs(1, 3)
      .AllowInplace({{0, 0}})
      .Args(kInstanceNormEpsilon, kStorageOrder)
      .Input(0, "input", "[N, C, *] or [N, *, C]")
      .Input(1, "scale", "scale of each channel, [C]")
      .Input(2, "bias", "bias of each channel, [C]")
      .Output(0, "output", "the shape of the input")
      .Output(1, "saved_mean", "optional mean of each channel, [N, C]")
      .Output(2, "saved_inv_stdev", "optional 1 / sqrt(variance + epsilon) of each channel, [N, C]")
      .TensorInferenceFunction(InferInstanceNorm)
      .CostInferenceFunction(PointwiseCostInference<6>)
      .FloatInputs(3)
      .SetDoc(
          "Instance normalization: (x - mean) / sqrt(var + epsilon) * scale + bias, where mean and "
          "biased variance are computed over each channel of each image.");
  RegisterCpuOperator<InstanceNormOp<CPUContext>>("InstanceNorm", __FILE__);

  RegisterSchema("InstanceNormGradient", __FILE__)
      .NumInputs(4, 6)
      .NumOutputs(3)
      .Args(kInstanceNormEpsilon, kStorageOrder)
      .Input(0, "X", "input of InstanceNorm")
      .Input(1, "scale", "scale of each channel, [C]")
      .Input(2, "bias", "not used")
      .Input(3, "dY", "gradient of the output")
      .Input(4, "saved_mean",
             "optional mean of each channel of each image, [N, C]; not used without input 5")
      .Input(5, "saved_inv_stdev",
             "optional 1 / sqrt(variance + epsilon) of each channel of each image, [N, C]")
      .Output(0, "dX", "gradient of X")
      .Output(1, "dscale", "gradient of scale")
      .Output(2, "dbias", "gradient of bias")
      .TensorInferenceFunction(InferInstanceNormGradient)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .SetDoc("Computes the gradients of InstanceNorm.");
  RegisterCpuOperator<InstanceNormGradientOp<CPUContext>>("InstanceNormGradient", __FILE__);
  RegisterGradient<GetInstanceNormGradient>("InstanceNorm", __FILE__);
}

}  // namespace caffe2rt
