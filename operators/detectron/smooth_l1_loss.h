#pragma once
// SmoothL1Loss: scale / N * the sum of alpha_out * SmoothL1(alpha_in * (Y_hat - Y)), where
//   SmoothL1(x) = x^2 / (2 beta)    if |x| < beta
//                 |x| - beta / 2    otherwise
//   Y_hat [N, ..], Y, alpha_in, alpha_out of as many elements, float  ->  loss: scalar
// The loss of no elements is 0.
//
// SmoothL1LossGradient: the inputs, the gradient of the loss  ->  the gradient of Y_hat

#include "caffe2_core/runtime/operator.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSmoothL1Beta{
    "beta",
    1.0f,
    "the loss is quadratic for differences below beta",
    {[](float beta) { return beta > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kSmoothL1Scale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the numbers of elements differ.
SmoothL1Terms SmoothL1TermsOf(float beta, const Tensor& Y_hat, const Tensor& Y,
                              const Tensor& alpha_in, const Tensor& alpha_out);
// scale / N. THROWS if Y_hat is a scalar.
LossFactor SmoothL1FactorOf(float scale, const Tensor& Y_hat);
#pragma GCC visibility pop

template <class Context>
class SmoothL1LossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SmoothL1LossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        beta_(this->ReadArgument(kSmoothL1Beta)),
        scale_(this->ReadArgument(kSmoothL1Scale)) {}

  bool RunOnDevice() override {
    const Tensor& Y_hat = Input(0);
    const SmoothL1Terms terms = SmoothL1TermsOf(beta_, Y_hat, Input(1), Input(2), Input(3));
    SmoothL1Sum(context_, Y_hat.numel(), terms, SmoothL1FactorOf(scale_, Y_hat), &scratch_,
                this->template OutputData<float>(0, {}));
    return true;
  }

 private:
  const float beta_, scale_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class SmoothL1LossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SmoothL1LossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        beta_(this->ReadArgument(kSmoothL1Beta)),
        scale_(this->ReadArgument(kSmoothL1Scale)) {}

  bool RunOnDevice() override {
    const Tensor& Y_hat = Input(0);
    const SmoothL1Terms terms = SmoothL1TermsOf(beta_, Y_hat, Input(1), Input(2), Input(3));
    const float* const dloss = OneFloat(Input(4), 4, "d_loss");
    SmoothL1Gradients(context_, Y_hat.numel(), terms, SmoothL1FactorOf(scale_, Y_hat), dloss,
                      this->template OutputData<float>(0, Y_hat.sizes()));
    return true;
  }

 private:
  const float beta_, scale_;
};

}  // namespace caffe2rt
