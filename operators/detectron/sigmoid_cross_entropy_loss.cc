#include "operators/detectron/sigmoid_cross_entropy_loss.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detectron/gradient_maker.h"
#include "operators/detectron/loss_loops.h"

namespace caffe2rt {

SigmoidTerms SigmoidTermsOf(const Tensor& X, const Tensor& targets) {
  CheckAsManyElements(targets, 1, "targets", X, "X");
  return {.x = X.data<float>(), .targets = targets.data<int32_t>()};
}

void CountTargets(CPUContext&, int64_t n, const int32_t* targets, Tensor*, float* count) {
  int64_t valid = 0;
  for (int64_t i = 0; i < n; ++i) valid += targets[i] == kIgnoredLabel ? 0 : 1;
  *count = static_cast<float>(valid);
}

void SigmoidSum(CPUContext&, int64_t n, const SigmoidTerms& terms, const LossFactor& factor,
                Tensor*, float* loss) {
  *loss = static_cast<float>(SumOfLosses(n, terms) * factor());
}

void SigmoidGradients(CPUContext&, int64_t n, const SigmoidTerms& terms, const LossFactor& factor,
                      const float* dloss, float* dx) {
  GradientsOfLosses(n, terms, *dloss * factor(), dx);
}

void RegisterSigmoidCrossEntropyLoss() {
  RegisterSchema("SigmoidCrossEntropyLoss", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kSigmoidLossScale, kSigmoidLossNormalize)
      .Input(0, "X", "logits, float")
      .Input(1, "targets", "int32, as many elements as X: 0, 1, or -1 to ignore the element")
      .Output(0, "loss", "float scalar: a tensor of rank 0")
      .ScalarType(TensorProto_DataType_FLOAT)
      .SetDoc(
          "Computes the cross entropy of sigmoid(X) and the targets, averaged over the targets "
          "that are not -1, or with normalize 0 added up, times scale.");
  RegisterSchema("SigmoidCrossEntropyLossGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kSigmoidLossScale, kSigmoidLossNormalize)
      .Input(0, "X", "as in SigmoidCrossEntropyLoss")
      .Input(1, "targets", "as in SigmoidCrossEntropyLoss")
      .Input(2, "d_loss", "the gradient of the loss, scalar")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SigmoidCrossEntropyLoss.");
  RegisterCpuOperator<SigmoidCrossEntropyLossOp<CPUContext>>("SigmoidCrossEntropyLoss", __FILE__);
  RegisterCpuOperator<SigmoidCrossEntropyLossGradientOp<CPUContext>>(
      "SigmoidCrossEntropyLossGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SigmoidCrossEntropyLoss", __FILE__);
}

}  // namespace caffe2rt
