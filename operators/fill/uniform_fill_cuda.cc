#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/fill/uniform_fill.h"

namespace caffe2rt {

void RegisterUniformFillCuda() {
  RegisterOperator<UniformFillOp<float, CUDAContext>>(CUDA, "UniformFill", __FILE__);
  RegisterOperator<UniformFillOp<int32_t, CUDAContext>>(CUDA, "UniformIntFill", __FILE__);
}

}  // namespace caffe2rt
