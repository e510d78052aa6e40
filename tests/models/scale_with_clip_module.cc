// The operator ScaleWithClip of the training net in c2_pinn_device, which no published Caffe2 has.
// The recorded run used weights of 1 for all labels; so does this operator.
#include <algorithm>

#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {

class ScaleWithClipOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override {
    const caffe2rt::Tensor& label = Input(0);
    for (int i = 0; i < 2; ++i) {
      caffe2rt::Tensor* const y = Output(i, label.sizes(), caffe2rt::TypeMeta::Make<float>());
      std::fill_n(y->mutable_data<float>(), y->numel(), 1.0f);
    }
    return true;
  }
};
REGISTER_CPU_OPERATOR(ScaleWithClip, ScaleWithClipOp);
OPERATOR_SCHEMA(ScaleWithClip)
    .NumInputs(1)
    .NumOutputs(2)
    .Arg("max_scale", "the largest weight", 0.0f)
    .Output(0, "scale", "clipped weights")
    .Output(1, "scale_no_clip", "weights");

}  // namespace
CAFFE2_MODULE(scale_with_clip_module, "weights of labels");
