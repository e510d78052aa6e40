#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/control/if.h"

namespace caffe2rt {

void RegisterIfCuda() { RegisterOperator<IfOp<CUDAContext>>(CUDA, "If", __FILE__); }

}  // namespace caffe2rt
