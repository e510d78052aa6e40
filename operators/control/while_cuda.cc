#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/control/while.h"

namespace caffe2rt {

void RegisterWhileCuda() { RegisterOperator<WhileOp<CUDAContext>>(CUDA, "While", __FILE__); }

}  // namespace caffe2rt
