#include "operators/detectron/smooth_l1_loss.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detectron/gradient_maker.h"
#include "operators/detectron/loss_loops.h"

namespace caffe2rt {

SmoothL1Terms SmoothL1TermsOf(float beta, const Tensor& Y_hat, const Tensor& Y,
                              const Tensor& alpha_in, const Tensor& alpha_out) {
  CheckAsManyElements(Y, 1, "Y", Y_hat, "Y_hat");
  CheckAsManyElements(alpha_in, 2, "alpha_in", Y_hat, "Y_hat");
  CheckAsManyElements(alpha_out, 3, "alpha_out", Y_hat, "Y_hat");
  return {.loss = {beta},
          .y_hat = Y_hat.data<float>(),
          .y = Y.data<float>(),
          .alpha_in = alpha_in.data<float>(),
          .alpha_out = alpha_out.data<float>()};
}

LossFactor SmoothL1FactorOf(float scale, const Tensor& Y_hat) {
  CAFFE_ENFORCE_GT(Y_hat.dim(), 0,
                   "rank of input 0 (Y_hat), want at least 1: its first dimension is the batch");
  const int64_t batch = Y_hat.dim(0);
  return {.scale = batch == 0 ? 0.0f : scale / static_cast<float>(batch)};
}

void SmoothL1Sum(CPUContext&, int64_t n, const SmoothL1Terms& terms, const LossFactor& factor,
                 Tensor*, float* loss) {
  *loss = static_cast<float>(SumOfLosses(n, terms) * factor());
}

void SmoothL1Gradients(CPUContext&, int64_t n, const SmoothL1Terms& terms, const LossFactor& factor,
                       const float* dloss, float* dx) {
  GradientsOfLosses(n, terms, *dloss * factor(), dx);
}

void RegisterSmoothL1Loss() {
  RegisterSchema("SmoothL1Loss", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kSmoothL1Beta, kSmoothL1Scale)
      .Input(0, "Y_hat", "[N, ..] float: predictions")
      .Input(1, "Y", "targets, as many elements as Y_hat")
      .Input(2, "alpha_in", "inside weights, as many elements as Y_hat; 0 ignores an element")
      .Input(3, "alpha_out", "outside weights, as many elements as Y_hat")
      .Output(0, "loss", "float scalar: a tensor of rank 0")
      .ScalarType(TensorProto_DataType_FLOAT)
      .SetDoc(
          "Computes scale / N * the sum of alpha_out * SmoothL1(alpha_in * (Y_hat - Y)), where "
          "SmoothL1(x) is x^2 / (2 beta) if |x| < beta and |x| - beta / 2 otherwise.");
  RegisterSchema("SmoothL1LossGradient", __FILE__)
      .NumInputs(5)
      .NumOutputs(1)
      .Args(kSmoothL1Beta, kSmoothL1Scale)
      .Input(0, "Y_hat", "as in SmoothL1Loss")
      .Input(1, "Y", "as in SmoothL1Loss")
      .Input(2, "alpha_in", "as in SmoothL1Loss")
      .Input(3, "alpha_out", "as in SmoothL1Loss")
      .Input(4, "d_loss", "the gradient of the loss, scalar")
      .Output(0, "d_Y_hat", "the gradient of Y_hat")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SmoothL1Loss.");
  RegisterCpuOperator<SmoothL1LossOp<CPUContext>>("SmoothL1Loss", __FILE__);
  RegisterCpuOperator<SmoothL1LossGradientOp<CPUContext>>("SmoothL1LossGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SmoothL1Loss", __FILE__);
}

}  // namespace caffe2rt
