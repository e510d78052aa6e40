#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/weight_scale.h"

namespace caffe2rt {

void RegisterWeightScaleCuda() {
  RegisterOperator<WeightScaleOp<CUDAContext>>(CUDA, "WeightScale", __FILE__);
}

}  // namespace caffe2rt
