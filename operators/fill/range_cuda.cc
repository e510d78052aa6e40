#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/range.h"

namespace caffe2rt {

void RegisterRangeCuda() { RegisterOperator<RangeOp<CUDAContext>>(CUDA, "Range", __FILE__); }

}  // namespace caffe2rt
