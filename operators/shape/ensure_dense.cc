#include "operators/shape/ensure_dense.h"

#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterEnsureDense() {
  RegisterSchema("EnsureDense", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .IdenticalTypeAndShape()
      .Input(0, "input", "a tensor of rank 1 or more")
      .Output(0, "output", "copy of the input")
      .SetDoc("Copies a tensor. Its gradient converts a sparse gradient to a dense one.");
  RegisterCpuOperator<EnsureDenseOp<CPUContext>>("EnsureDense", __FILE__);
}

}  // namespace caffe2rt
