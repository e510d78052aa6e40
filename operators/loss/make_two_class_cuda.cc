#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/make_two_class.h"

namespace caffe2rt {

void RegisterMakeTwoClassCuda() {
  RegisterOperator<MakeTwoClassOp<CUDAContext>>(CUDA, "MakeTwoClass", __FILE__);
  RegisterOperator<MakeTwoClassGradientOp<CUDAContext>>(CUDA, "MakeTwoClassGradient", __FILE__);
}

}  // namespace caffe2rt
