#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/pow.h"

namespace caffe2rt {

void RegisterPowCuda() { RegisterOperator<PowOp<CUDAContext>>(CUDA, "Pow", __FILE__); }

}  // namespace caffe2rt
