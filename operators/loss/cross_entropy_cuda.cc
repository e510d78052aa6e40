#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/cross_entropy.h"

namespace caffe2rt {

void RegisterCrossEntropyCuda() {
  RegisterOperator<CrossEntropyOp<CUDAContext, true>>(CUDA, "LabelCrossEntropy", __FILE__);
  RegisterOperator<CrossEntropyGradientOp<CUDAContext, true>>(CUDA, "LabelCrossEntropyGradient",
                                                              __FILE__);
  RegisterOperator<CrossEntropyOp<CUDAContext, false>>(CUDA, "CrossEntropy", __FILE__);
  RegisterOperator<CrossEntropyGradientOp<CUDAContext, false>>(CUDA, "CrossEntropyGradient",
                                                               __FILE__);
}

}  // namespace caffe2rt
