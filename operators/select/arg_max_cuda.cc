#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/arg_max.h"

namespace caffe2rt {

void RegisterArgMaxCuda() {
  RegisterOperator<ArgOp<CUDAContext, true>>(CUDA, "ArgMax", __FILE__);
  RegisterOperator<ArgOp<CUDAContext, false>>(CUDA, "ArgMin", __FILE__);
}

}  // namespace caffe2rt
