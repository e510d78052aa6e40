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
SHOULD_NOT_DO_GRADIENT(ClampSum);

}  // namespace embedding

CAFFE2_MODULE(clamp_sum, "an example of a module");
