#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/detectron/sample_as.h"

namespace caffe2rt {

void RegisterSampleAsCuda() {
  RegisterOperator<SampleAsOp<CUDAContext>>(CUDA, "SampleAs", __FILE__);
  RegisterOperator<SampleAsGradientOp<CUDAContext>>(CUDA, "SampleAsGradient", __FILE__);
}

}  // namespace caffe2rt
