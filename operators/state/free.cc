#include "operators/state/free.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterFree() {
  RegisterSchema("Free", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1, INT_MAX)
      .SameNumberOfOutput()
      .EnforceOneToOneInplace()
      .Input(0, "X1, X2, ...", "blobs of any type")
      .Output(0, "X1, X2, ...", "the same blobs, empty")
      .Memory({.keeps_memory = true})
      .SetDoc("Empties blobs, which releases the memory that they hold.");
  RegisterCpuOperator<FreeOp<CPUContext>>("Free", __FILE__);
  // The outputs have no values.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Free", __FILE__);
}

}  // namespace caffe2rt
