#include "operators/fill/lengths_range_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterLengthsRangeFill() {
  RegisterSchema("LengthsRangeFill", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "lengths", "[N] int32, each at least 0")
      .Output(0, "range_sequence", "[sum of lengths] int32")
      .SetDoc("Concatenates the ranges 0, 1, ..., lengths[i] - 1 for each i.");
  RegisterCpuOperator<LengthsRangeFillOp<CPUContext>>("LengthsRangeFill", __FILE__);
  // The input holds integers, so it has no gradient.
  RegisterGradient<NoGradient>("LengthsRangeFill", __FILE__);
}

}  // namespace caffe2rt
