#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/lars.h"

namespace caffe2rt {

void RegisterLarsCuda() { RegisterOperator<LarsOp<CUDAContext>>(CUDA, "Lars", __FILE__); }

}  // namespace caffe2rt
