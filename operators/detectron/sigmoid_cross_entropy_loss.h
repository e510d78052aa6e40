#pragma once
// SigmoidCrossEntropyLoss: scale * the sum of the cross entropies of sigmoid(X) and the targets,
// divided by the number of targets that are not ignored, unless normalize is 0.
//   X float, targets int32 of as many elements: 0, 1, or -1 to ignore the element  ->  loss: scalar
//
// SigmoidCrossEntropyLossGradient: the inputs, the gradient of the loss  ->  dX

#include "caffe2_core/runtime/operator.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSigmoidLossScale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int> kSigmoidLossNormalize{
    "normalize",
    1,
    "1: divide the loss by the number of targets that are not -1; 0: do not",
    {[](int normalize) { return normalize == 0 || normalize == 1; }, "0 or 1"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the numbers of elements differ.
SigmoidTerms SigmoidTermsOf(const Tensor& X, const Tensor& targets);
#pragma GCC visibility pop

// What the loss and its gradient have in common: the arguments, and the number of targets.
template <class Context>
class SigmoidLossFactor {
 public:
  explicit SigmoidLossFactor(const ArgumentHelper& args)
      : scale_(args.Read(kSigmoidLossScale)), normalize_(args.Read(kSigmoidLossNormalize) != 0) {}

  // The result is valid until the next call.
  LossFactor Of(Context& context, int64_t n, const int32_t* targets) {
    if (!normalize_) return {.scale = scale_};
    count_.Resize(1);
    float* const count = count_.template mutable_data<float>();
    CountTargets(context, n, targets, &scratch_, count);
    return {.scale = scale_, .normalizer = count};
  }
  Tensor* scratch() { return &scratch_; }

 private:
  const float scale_;
  const bool normalize_;
  Tensor count_{Context::GetDeviceType()}, scratch_{Context::GetDeviceType()};
};

template <class Context>
class SigmoidCrossEntropyLossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidCrossEntropyLossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), factor_(this->args()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const SigmoidTerms terms = SigmoidTermsOf(X, Input(1));
    const LossFactor factor = factor_.Of(context_, X.numel(), terms.targets);
    SigmoidSum(context_, X.numel(), terms, factor, factor_.scratch(),
               this->template OutputData<float>(0, {}));
    return true;
  }

 private:
  SigmoidLossFactor<Context> factor_;
};

template <class Context>
class SigmoidCrossEntropyLossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidCrossEntropyLossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), factor_(this->args()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const SigmoidTerms terms = SigmoidTermsOf(X, Input(1));
    const float* const dloss = OneFloat(Input(2), 2, "d_loss");
    const LossFactor factor = factor_.Of(context_, X.numel(), terms.targets);
    SigmoidGradients(context_, X.numel(), terms, factor, dloss,
                     this->template OutputData<float>(0, X.sizes()));
    return true;
  }

 private:
  SigmoidLossFactor<Context> factor_;
};

}  // namespace caffe2rt
