#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/one_hot.h"

namespace caffe2rt {

void RegisterOneHotCuda() { RegisterOperator<OneHotOp<CUDAContext>>(CUDA, "OneHot", __FILE__); }

}  // namespace caffe2rt
