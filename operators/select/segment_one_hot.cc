#include "operators/select/segment_one_hot.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/select/register.h"

namespace caffe2rt {

void RegisterSegmentOneHot() {
  RegisterSchema("SegmentOneHot", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "lengths", "[N] int32: the size of each segment")
      .Input(1, "indices", "[sum of lengths] int64")
      .Input(2, "index_size_tensor", "int64, one element: how many classes there are")
      .Output(0, "one_hots", "[N, index_size] float")
      .NoGradientBecause("its inputs are indices")
      .SetDoc("Makes a row for each segment, with 1 at each of its indices and 0 elsewhere.");
  RegisterCpuOperator<SegmentOneHotOp<CPUContext>>("SegmentOneHot", __FILE__);
}

}  // namespace caffe2rt
