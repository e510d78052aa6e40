#pragma once
// SigmoidFocalLoss: scale / max(1, normalizer) * the sum of the binary focal losses of all logits.
//   logits [N, A * C, H, W] float, labels int32 [N, A, H, W], normalizer: scalar  ->  loss: scalar
// where C is num_classes, without the background, and A the number of anchors. Label c + 1 means
// class c, label 0 the background, and label -1 that the anchor is ignored at this position.
//
// SigmoidFocalLossGradient: the inputs, the gradient of the loss  ->  the gradient of the logits

#include "caffe2_core/runtime/operator.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSigmoidFocalScale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<float> kSigmoidFocalAlpha{
    "alpha", 0.25f, "weight of the labelled class; all others have the weight 1 - alpha"};
inline constexpr ArgumentSpec<float> kSigmoidFocalGamma{
    "gamma", 1.0f, "exponent that decreases the loss of probabilities which are already right"};
inline constexpr ArgumentSpec<int> kSigmoidFocalClasses{
    "num_classes",
    80,
    "number of classes, without the background",
    {[](int num_classes) { return num_classes > 0; }, "above 0"}};

// What the loss and its gradient have in common: arguments, and checks of the inputs.
class [[gnu::visibility("default")]] SigmoidFocalArguments {
 public:
  explicit SigmoidFocalArguments(const ArgumentHelper& args);
  // THROWS if the shapes do not match.
  SigmoidFocalInputs InputsOf(const Tensor& logits, const Tensor& labels) const;
  LossFactor FactorOf(const Tensor& normalizer) const {
    return {.scale = scale_, .normalizer = OneFloat(normalizer, 2, "normalizer")};
  }

 private:
  const float scale_;
  const SigmoidFocal loss_;
  const int classes_;
};

template <class Context>
class SigmoidFocalLossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidFocalLossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args()) {}

  bool RunOnDevice() override {
    const SigmoidFocalInputs inputs = arguments_.InputsOf(Input(0), Input(1));
    const LossFactor factor = arguments_.FactorOf(Input(2));
    SigmoidFocalSum(context_, inputs, factor, &scratch_, this->template OutputData<float>(0, {}));
    return true;
  }

 private:
  const SigmoidFocalArguments arguments_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class SigmoidFocalLossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidFocalLossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args()) {}

  bool RunOnDevice() override {
    const SigmoidFocalInputs inputs = arguments_.InputsOf(Input(0), Input(1));
    const LossFactor factor = arguments_.FactorOf(Input(2));
    const float* const dloss = OneFloat(Input(3), 3, "d_loss");
    SigmoidFocalGradients(context_, inputs, factor, dloss,
                          this->template OutputData<float>(0, Input(0).sizes()));
    return true;
  }

 private:
  const SigmoidFocalArguments arguments_;
};

}  // namespace caffe2rt
