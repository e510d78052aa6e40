#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/loss/sigmoid_cross_entropy_with_logits.h"

namespace caffe2rt {

namespace {

template <bool kWeighted>
void RegisterSigmoidLoss(const std::string& type) {
  RegisterOperator<SigmoidCrossEntropyOp<CUDAContext, kWeighted>>(CUDA, type, __FILE__);
  RegisterOperator<SigmoidCrossEntropyGradientOp<CUDAContext, kWeighted>>(CUDA, type + "Gradient",
                                                                          __FILE__);
}

}  // namespace

void RegisterSigmoidCrossEntropyWithLogitsCuda() {
  RegisterSigmoidLoss<false>("SigmoidCrossEntropyWithLogits");
  RegisterSigmoidLoss<true>("WeightedSigmoidCrossEntropyWithLogits");
}

}  // namespace caffe2rt
