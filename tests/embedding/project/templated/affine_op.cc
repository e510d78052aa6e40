#include "affine_op.h"

#include "caffe2/utils/math.h"

namespace caffe2 {

namespace {
// Deduces the context from the tensors.
template <typename T, class Context>
void ScaleTensor(const Tensor<Context>& x, float scale, Tensor<Context>* y, Context* context) {
  y->ResizeLike(x);
  math::Scale<T, Context>(x.size(), scale, x.template data<T>(), y->template mutable_data<T>(),
                          context);
}
}  // namespace

template <>
bool TemplatedAffineOp<float, CPUContext>::RunOnDevice() {
  auto& X = Input(0);
  auto* Y = Output(0);
  CAFFE_ENFORCE_GT(X.ndim(), 0, "no scalars");
  ScaleTensor<float>(X, scale_, &buffer_, &context_);
  Y->ResizeLike(X);
  const float* x = buffer_.data<float>();
  float* y = Y->mutable_data<float>();
  for (TIndex i = 0; i < X.size(); ++i) y[i] = x[i] + offset_;
  if (OutputSize() > 1) {
    // A tensor on the CPU on every device.
    auto* shape = OperatorBase::Output<Tensor<CPUContext>>(1);
    shape->Resize(X.ndim());
    for (int i = 0; i < X.ndim(); ++i) shape->mutable_data<int>()[i] = X.dim32(i);
  }
  return true;
}

template <>
bool TemplatedAffineGradientOp<float, CPUContext>::RunOnDevice() {
  const auto& dY = Input(0);
  auto* dX = Output(0);
  dX->ResizeLike(dY);
  math::Scale<float, CPUContext>(dY.size(), OperatorBase::GetSingleArgument<float>("scale", 1.),
                                 dY.data<float>(), dX->mutable_data<float>(), &context_);
  return true;
}

namespace {

REGISTER_CPU_OPERATOR(TemplatedAffine, TemplatedAffineOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(TemplatedAffineGradient, TemplatedAffineGradientOp<float, CPUContext>);

OPERATOR_SCHEMA(TemplatedAffine)
    .NumInputs(1)
    .NumOutputs(1, 2)
    .AllowInplace({{0, 0}})
    .SetDoc(R"DOC(
Multiplies by a number and adds another.
)DOC")
    .Arg("scale", "the factor")
    .Arg("offset", "the summand")
    .Input(0, "X", "a tensor")
    .Output(0, "Y", "a tensor of the same shape");
OPERATOR_SCHEMA(TemplatedAffineGradient).NumInputs(1).NumOutputs(1);

class GetTemplatedAffineGradient : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("TemplatedAffineGradient", "", vector<string>{GO(0)},
                             vector<string>{GI(0)});
  }
};
REGISTER_GRADIENT(TemplatedAffine, GetTemplatedAffineGradient);

}  // namespace
}  // namespace caffe2
