#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/gaussian_fill.h"

namespace caffe2rt {

void RegisterGaussianFillCuda() {
  RegisterOperator<GaussianFillOp<CUDAContext>>(CUDA, "GaussianFill", __FILE__);
}

}  // namespace caffe2rt
