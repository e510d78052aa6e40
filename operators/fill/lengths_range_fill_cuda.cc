#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/lengths_range_fill.h"

namespace caffe2rt {

void RegisterLengthsRangeFillCuda() {
  RegisterOperator<LengthsRangeFillOp<CUDAContext>>(CUDA, "LengthsRangeFill", __FILE__);
}

}  // namespace caffe2rt
