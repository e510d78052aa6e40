// ClampSum: y = sum of max(x, least). A custom operator with schema, shape inference, CPU kernel
// and gradient.
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace embedding {

constexpr caffe2rt::ArgumentSpec<float> kLeast{"least", 0.0f,
                                               "the least value of a clamped element"};

template <class Context>
class ClampSumOp final : public caffe2rt::Operator<Context> {
 public:
  ClampSumOp(const caffe2rt::OperatorDef& def, caffe2rt::Workspace* ws)
      : caffe2rt::Operator<Context>(def, ws), least_(this->ReadArgument(kLeast)) {}

  bool RunOnDevice() override {
    const caffe2rt::Tensor& x = this->Input(0);
    caffe2rt::Tensor* y = this->Output(0, {}, caffe2rt::TypeMeta::Make<float>());
    const float* values = x.data<float>();
    float sum = 0;
    for (int64_t i = 0; i < x.numel(); ++i) sum += std::max(values[i], least_);
    *y->mutable_data<float>() = sum;
    return true;
  }

 private:
  const float least_;
};

// dX[i] = dY if X[i] > least, else 0.
template <class Context>
class ClampSumGradientOp final : public caffe2rt::Operator<Context> {
 public:
  ClampSumGradientOp(const caffe2rt::OperatorDef& def, caffe2rt::Workspace* ws)
      : caffe2rt::Operator<Context>(def, ws), least_(this->ReadArgument(kLeast)) {}

  bool RunOnDevice() override {
    const caffe2rt::Tensor& x = this->Input(0);
    const caffe2rt::Tensor& dy = this->Input(1);
    CAFFE_ENFORCE_EQ(dy.numel(), 1, "elements of input 1 (dY)");
    caffe2rt::Tensor* dx = this->Output(0, x.sizes(), caffe2rt::TypeMeta::Make<float>());
    const float slope = *dy.data<float>();
    float* values = dx->mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); ++i) values[i] = x.data<float>()[i] > least_ ? slope : 0.0f;
    return true;
  }

 private:
  const float least_;
};

// `caffe2 gradients --verify` compares what the maker returns with difference quotients.
class GetClampSumGradient final : public caffe2rt::GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<caffe2rt::OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ClampSumGradient", "", {I(0), GO(0)}, {GI(0)});
  }
};

OPERATOR_SCHEMA(ClampSum)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg(kLeast)
    .Input(0, "X", "float, any shape")
    .Output(0, "Y", "scalar")
    .TensorInferenceFunction([](const caffe2rt::OperatorDef&,
                                const std::vector<caffe2rt::TensorShape>&) {
      return std::vector<caffe2rt::TensorShape>{
          caffe2rt::CreateTensorShape(std::vector<int64_t>{}, caffe2rt::TensorProto::FLOAT)};
    })
    .SetDoc("Computes the sum of max(x, least) over all elements x of the input.");
REGISTER_CPU_OPERATOR(ClampSum, ClampSumOp<caffe2rt::CPUContext>);

OPERATOR_SCHEMA(ClampSumGradient)
    .NumInputs(2)
    .NumOutputs(1)
    .Arg(kLeast)
    .SetDoc("Computes the gradient of ClampSum.");
REGISTER_CPU_OPERATOR(ClampSumGradient, ClampSumGradientOp<caffe2rt::CPUContext>);
REGISTER_GRADIENT(ClampSum, GetClampSumGradient);

}  // namespace embedding

CAFFE2_MODULE(clamp_sum, "an example of a module");
