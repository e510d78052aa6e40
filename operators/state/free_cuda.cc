#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/state/free.h"

namespace caffe2rt {

void RegisterFreeCuda() { RegisterOperator<FreeOp<CUDAContext>>(CUDA, "Free", __FILE__); }

}  // namespace caffe2rt
