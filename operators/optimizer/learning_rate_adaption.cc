#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/optimizer/sum_terms.h"
#include "operators/optimizer/update_checks.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kAdaptionAlpha{"lr_alpha", 0.01f,
                                             "the rate of descent of the learning rate"};
constexpr ArgumentSpec<bool> kAdaptionNormalized{
    "normalized_lr_adaption", true,
    "1: lr * (1 - lr_alpha * cosine of the gradients); 0: lr - lr_alpha * their dot product"};

// lr [1], grad, effgrad as grad  ->  lr [1] (may be in place)
class LearningRateAdaptionOp final : public Operator<CPUContext> {
 public:
  LearningRateAdaptionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        alpha_(ReadArgument(kAdaptionAlpha)),
        normalized_(ReadArgument(kAdaptionNormalized)) {}

  bool RunOnDevice() override {
    const Tensor& grad = Input(1);
    const Tensor& effective = Input(2);
    const float rate = *OneNumber({Input(0), "input 0 (lr)"});
    RequireSameSize({effective, "input 2 (effgrad)"}, {grad, "input 1 (grad)"});
    const int64_t n = grad.numel();
    const float* const x = grad.data<float>();
    const float* const y = effective.data<float>();
    double change = DotProduct(n, x, y);
    if (normalized_) {
      constexpr double kLeastNorm = 1e-12;
      change *= static_cast<double>(rate) / (std::max(std::sqrt(DotProduct(n, x, x)), kLeastNorm) *
                                             std::max(std::sqrt(DotProduct(n, y, y)), kLeastNorm));
    }
    *OutputData<float>(0, Input(0).sizes()) = static_cast<float>(rate - alpha_ * change);
    return true;
  }

 private:
  const float alpha_;
  const bool normalized_;
};

}  // namespace

void RegisterLearningRateAdaption() {
  RegisterSchema("LearningRateAdaption", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kAdaptionAlpha, kAdaptionNormalized)
      .Input(0, "lr", "the learning rate: one element, float")
      .Input(1, "grad", "the gradient of this iteration")
      .Input(2, "effgrad", "the effective gradient of the iteration before; the size of grad")
      .Output(0, "lr", "the new learning rate")
      .TensorInferenceFunction(InferLikeInputs({0}))
      .SetDoc(
          "Changes the learning rate by gradient descent, given the gradients of two consecutive "
          "iterations.");
  RegisterCpuOperator<LearningRateAdaptionOp>("LearningRateAdaption", __FILE__);
  // The learning rate is not part of the function that is differentiated.
  RegisterGradient<NoGradient>("LearningRateAdaption", __FILE__);
}

}  // namespace caffe2rt
