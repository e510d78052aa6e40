#include "three_file_op.h"

#include "caffe2/utils/math.h"

namespace caffe2 {

template <>
bool EmbeddingAffineOp<float, CPUContext>::RunOnDevice() {
  auto& X = Input(DATA);
  auto* Y = Output(0);
  Y->ResizeLike(X);
  buf_.ResizeLike(X);
  float* b = buf_.mutable_data<float>();
  math::Scale<float, CPUContext>(X.size(), scale_, X.data<float>(), b, &context_);
  float* y = Y->mutable_data<float>();
  for (int i = 0; i < X.size(); ++i) y[i] = b[i] + offset_;
  return true;
}

template <>
bool EmbeddingAffineGradientOp<float, CPUContext>::RunOnDevice() {
  const auto& dY = Input(0);
  Output(0)->CopyFrom(dY, &context_);
  const float scale = OperatorBase::GetSingleArgument<float>("scale", 1.);
  math::Scale<float, float, CPUContext>(dY.numel(), scale, dY.data<float>(),
                                        Output(0)->template mutable_data<float>(), &context_);
  return true;
}

REGISTER_CPU_OPERATOR(EmbeddingAffine, EmbeddingAffineOp<float, CPUContext>);

namespace {
// Registered in an unnamed namespace, without a semicolon.
REGISTER_CPU_OPERATOR(EmbeddingAffineGradient, EmbeddingAffineGradientOp<float, CPUContext>)
}  // namespace

OPERATOR_SCHEMA(EmbeddingAffine)
    .NumInputs(1, 3)
    .NumOutputs({1, 2})
    .AllowInplace({{0, 0}})
    .Arg("scale", "factor")
    .Arg("offset", "summand", false)
    .Input(0, "X", "data")
    .Output(0, "Y", "scale * X + offset")
    .SetDoc(R"DOC(
An affine function.
)DOC")
    .TensorInferenceFunction([](const OperatorDef&, const vector<TensorShape>& in) {
      return vector<TensorShape>{in[0]};
    });
OPERATOR_SCHEMA(EmbeddingAffineGradient).NumInputs(1).NumOutputs(1).IdenticalTypeAndShape();

class GetEmbeddingAffineGradient : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("EmbeddingAffineGradient", "", vector<string>{GO(0)},
                             vector<string>{GI(0)});
  }
};
REGISTER_GRADIENT(EmbeddingAffine, GetEmbeddingAffineGradient);
NO_GRADIENT(EmbeddingOther) SHOULD_NOT_DO_GRADIENT(EmbeddingThird);

}  // namespace caffe2
