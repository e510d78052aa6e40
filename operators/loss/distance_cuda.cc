#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/distance.h"

namespace caffe2rt {

void RegisterDistanceCuda() {
  ForEachDistance([]<Distance kDistance>(const std::string& type, const char*) {
    RegisterOperator<DistanceOp<CUDAContext, kDistance>>(CUDA, type, __FILE__);
    RegisterOperator<DistanceGradientOp<CUDAContext, kDistance>>(CUDA, type + "Gradient", __FILE__);
  });
}

}  // namespace caffe2rt
