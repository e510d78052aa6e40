#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/load.h"

namespace caffe2rt {

void RegisterLoadCuda() { RegisterOperator<LoadOp<CUDAContext>>(CUDA, "Load", __FILE__); }

}  // namespace caffe2rt
