#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/range_fill.h"

namespace caffe2rt {

void RegisterRangeFillCuda() {
  RegisterOperator<RangeFillOp<CUDAContext>>(CUDA, "RangeFill", __FILE__);
}

}  // namespace caffe2rt
