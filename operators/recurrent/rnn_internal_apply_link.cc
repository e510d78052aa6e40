#include "operators/recurrent/rnn_internal_apply_link.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterRnnInternalApplyLink() {
  RegisterSchema("rnn_internal_apply_link", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .EnforceInplace({{1, 1}})
      .Args(kApplyLinkOffset, kApplyLinkWindow)
      .Input(0, "timestep", "int32 [1], on the CPU")
      .Input(1, "external", "[T, *]")
      .Output(0, "internal", "[window, *]: rows of external, which it shares")
      .Output(1, "external", "input 1, unchanged")
      .OutputSharesInput(1, 0)
      .DeviceInferenceFunction(OnCPU({0}, {}))
      .Private()
      .SetDoc("Makes internal share the rows of external from timestep + offset on.");
  RegisterCpuOperator<ApplyLinkOp<CPUContext>>("rnn_internal_apply_link", __FILE__);
  // It moves no data; the backward step net has links of its own.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("rnn_internal_apply_link", __FILE__);
}

}  // namespace caffe2rt
