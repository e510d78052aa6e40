#include "operators/select/one_hot.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterOneHot() {
  RegisterSchema("OneHot", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "indices", "[N] int64")
      .Input(1, "index_size_tensor", "int64, one element: how many classes there are")
      .Output(0, "one_hots", "[N, index_size] float")
      .SetDoc("Makes a row for each index, with 1 at the index and 0 elsewhere.");
  RegisterCpuOperator<OneHotOp<CPUContext>>("OneHot", __FILE__);
  // Its inputs are indices.
  RegisterGradient<NoGradient>("OneHot", __FILE__);
}

}  // namespace caffe2rt
