#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/control/do.h"

namespace caffe2rt {

void RegisterDoCuda() { RegisterOperator<DoOp<CUDAContext>>(CUDA, "Do", __FILE__); }

}  // namespace caffe2rt
