#include "operators/select/has_elements.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterHasElements() {
  RegisterSchema("HasElements", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .ScalarType(TensorProto_DataType_BOOL)
      .Input(0, "X1, X2, ...", "any tensors")
      .Output(0, "has_elements", "bool scalar")
      .SetDoc("Checks whether at least one of the inputs has an element.");
  RegisterCpuOperator<HasElementsOp<CPUContext>>("HasElements", __FILE__);
  // The output depends only on the number of elements.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("HasElements", __FILE__);
}

}  // namespace caffe2rt
