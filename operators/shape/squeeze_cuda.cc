#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/squeeze.h"

namespace caffe2rt {

void RegisterSqueezeCuda() { RegisterOperator<SqueezeOp<CUDAContext>>(CUDA, "Squeeze", __FILE__); }

}  // namespace caffe2rt
