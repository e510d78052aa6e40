#include "operators/detection/affine_channel.h"

#include <algorithm>
#include <string>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void ScaleAffineRow(const float* x, int64_t n, float scale, float bias,
                                      float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + bias;
}
CAFFE2RT_SIMD_FMA void ScaleAffineRowByEach(const float* x, int64_t n, const float* scale,
                                            float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale[i];
}
CAFFE2RT_SIMD_FMA void ScaleAffineRowByEach(const float* x, int64_t n, const float* scale,
                                            const float* bias, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale[i] + bias[i];
}

// Adds the sums of a row of one channel.
CAFFE2RT_SIMD_FMA void SumAffineRow(const float* dy, const float* x, int64_t n, float* dscale,
                                    float* dbias) {
  math::Lanes products = {}, sum = {}, a, b;
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Load(dy + i, a);
    math::Load(x + i, b);
    products += a * b;
    sum += a;
  }
  float product = math::Sum(products), total = math::Sum(sum);
  for (; i < n; ++i) {
    product += dy[i] * x[i];
    total += dy[i];
  }
  *dscale += product;
  *dbias += total;
}
// Adds a row with one number for each channel.
CAFFE2RT_SIMD_FMA void SumAffineRowOfEach(const float* dy, const float* x, int64_t n, float* dscale,
                                          float* dbias) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) {
    dscale[i] += dy[i] * x[i];
    dbias[i] += dy[i];
  }
}

class GetAffineChannelGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (ArgumentHelper(Def()).Read(kAffineChannelIsLearnable)) {
      return SingleGradientDef("AffineChannelGradient", "",
                               std::vector<std::string>{GO(0), I(0), I(1)},
                               std::vector<std::string>{GI(0), GI(1), GI(2)});
    }
    return SingleGradientDef("AffineChannelGradient", "", std::vector<std::string>{GO(0), I(1)},
                             std::vector<std::string>{GI(0)});
  }
};

std::vector<TensorShape> InferAffineGradient(const OperatorDef& def,
                                             const std::vector<TensorShape>& in) {
  if (in.empty()) return UnknownOutputs(def);
  std::vector<TensorShape> out{in[0]};
  for (int i = 1; i < def.output_size(); ++i) {
    out.push_back(in.size() > 2 ? in[2] : UnknownShape());
  }
  return out;
}

}  // namespace

void ScaleChannels(CPUContext&, const Channels& channels, const float* x, const float* scale,
                   const float* bias, float* y) {
  const int64_t count = channels.count;
  if (channels.last) {
    for (int64_t i = 0; i < channels.batch * channels.positions; ++i) {
      if (bias == nullptr) {
        ScaleAffineRowByEach(x + i * count, count, scale, y + i * count);
      } else {
        ScaleAffineRowByEach(x + i * count, count, scale, bias, y + i * count);
      }
    }
    return;
  }
  for (int64_t i = 0; i < channels.batch * count; ++i) {
    ScaleAffineRow(x + i * channels.positions, channels.positions, scale[i % count],
                   bias == nullptr ? 0 : bias[i % count], y + i * channels.positions);
  }
}

void SumChannels(CPUContext&, const Channels& channels, const float* dy, const float* x,
                 float* dscale, float* dbias) {
  const int64_t count = channels.count;
  std::fill_n(dscale, count, 0.0f);
  std::fill_n(dbias, count, 0.0f);
  if (channels.last) {
    for (int64_t i = 0; i < channels.batch * channels.positions; ++i) {
      SumAffineRowOfEach(dy + i * count, x + i * count, count, dscale, dbias);
    }
    return;
  }
  for (int64_t i = 0; i < channels.batch * count; ++i) {
    SumAffineRow(dy + i * channels.positions, x + i * channels.positions, channels.positions,
                 dscale + i % count, dbias + i % count);
  }
}

const float* AffineVector(const Tensor& tensor, int i, const char* name, int64_t channels,
                          int64_t elements) {
  if (elements > 0) {
    CAFFE_ENFORCE_GE(tensor.numel(), channels, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want one for each channel of input 0");
  }
  return tensor.data<float>();
}

void CheckAffineGradient(bool is_learnable, int inputs, int outputs) {
  CAFFE_ENFORCE(!is_learnable || (inputs == 3 && outputs == 3), "the operator has ",
                CountText(inputs, "input"), " and ", CountText(outputs, "output"),
                ", want 3 and 3 because argument is_learnable is 1");
  CAFFE_ENFORCE(outputs == 1 || outputs == 3, "the operator has 2 outputs, want 1, or 3 with ",
                "argument is_learnable");
}

void RegisterAffineChannel() {
  RegisterSchema("AffineChannel", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kStorageOrder, kAffineChannelIsLearnable)
      .Input(0, "X", "[N, C, *], or [N, *, C] in order NHWC")
      .Input(1, "scale", "[C]; further numbers are ignored")
      .Input(2, "bias", "[C]; further numbers are ignored")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kNorm,
               .same_shape = true,
               .affine = AffineForm::kScaleAndBias})
      .SetDoc(
          "Computes Y = X * scale + bias for each channel. A backward pass with is_learnable needs "
          "X, so Y must then be another blob.");
  RegisterCpuOperator<AffineChannelOp<CPUContext>>("AffineChannel", __FILE__);

  RegisterSchema("AffineChannelGradient", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1, 3)
      .AllowInplace({{0, 0}})
      .Args(kStorageOrder, kAffineChannelIsLearnable)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "scale or X", "scale; or, with is_learnable, X")
      .Input(2, "scale", "with is_learnable; ignored without it, and so are the outputs 1 and 2")
      .Output(0, "dX", "the gradient of X")
      .Output(1, "dscale", "with is_learnable: the gradient of scale")
      .Output(2, "dbias", "with is_learnable: the gradient of bias")
      .TensorInferenceFunction(InferAffineGradient)
      .SetDoc("The gradient of AffineChannel.");
  RegisterCpuOperator<AffineChannelGradientOp<CPUContext>>("AffineChannelGradient", __FILE__);
  RegisterGradient<GetAffineChannelGradient>("AffineChannel", __FILE__);
}

}  // namespace caffe2rt
