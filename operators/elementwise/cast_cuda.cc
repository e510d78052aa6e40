#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/cast.h"

namespace caffe2rt {

void RegisterCastCuda() { RegisterOperator<CastOp<CUDAContext>>(CUDA, "Cast", __FILE__); }

}  // namespace caffe2rt
