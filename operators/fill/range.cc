#include "operators/fill/range.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterRange() {
  RegisterSchema("Range", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Input(0, "start", "one element; if it is the only input, it is stop, and start is 0")
      .Input(1, "stop", "(optional) one element: the end of the range, which is not included")
      .Input(2, "step", "(optional) one element, not 0; default 1")
      .Output(0, "output", "a vector")
      .SetDoc(
          "Creates the values start, start + step, ... before stop: int32, int64, float or "
          "double.");
  RegisterCpuOperator<RangeOp<CPUContext>>("Range", __FILE__);
  // The inputs determine the number of elements, so they have no gradient.
  RegisterGradient<NoGradient>("Range", __FILE__);
}

}  // namespace caffe2rt
