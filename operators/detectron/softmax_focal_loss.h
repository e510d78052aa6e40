#pragma once
// SoftmaxFocalLoss: softmax over the classes of each anchor at each position, and
// scale / max(1, normalizer) * the sum of the focal losses of the labels.
//   scores [N, A * C, H, W] float, labels int32 [N, A, H, W], normalizer: scalar
//   ->  loss: scalar, probabilities of the shape of scores
// where C is num_classes, with the background as class 0, and A the number of anchors. A label
// below 0 is ignored.
//
// SoftmaxFocalLossGradient: the inputs, probabilities, the gradient of the loss
//   ->  the gradient of the scores

#include "caffe2_core/runtime/operator.h"
#include "operators/common/order_argument.h"
#include "operators/common/softmax_rows.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSoftmaxFocalScale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<float> kSoftmaxFocalAlpha{
    "alpha", 0.25f, "weight of the labels that are not 0; label 0 has the weight 1 - alpha"};
inline constexpr ArgumentSpec<float> kSoftmaxFocalGamma{
    "gamma", 1.0f, "exponent that decreases the loss of labels whose probability is high"};
inline constexpr ArgumentSpec<int> kSoftmaxFocalClasses{
    "num_classes",
    81,
    "number of classes in each softmax, with the background",
    {[](int num_classes) { return num_classes > 0; }, "above 0"}};

// What the loss and its gradient have in common: arguments, and checks of the inputs.
class [[gnu::visibility("default")]] SoftmaxFocalArguments {
 public:
  // THROWS if the order is not NCHW.
  explicit SoftmaxFocalArguments(const ArgumentHelper& args);
  // THROWS if the shapes do not match. The probabilities are not set.
  SoftmaxFocalInputs InputsOf(const Tensor& scores, const Tensor& labels) const;
  LossFactor FactorOf(const Tensor& normalizer) const {
    return {.scale = scale_, .normalizer = OneFloat(normalizer, 2, "normalizer")};
  }

 private:
  const float scale_;
  const SoftmaxFocal loss_;
  const int classes_;
};

template <class Context>
class SoftmaxFocalLossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxFocalLossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args()) {}

  bool RunOnDevice() override {
    const Tensor& scores = Input(0);
    SoftmaxFocalInputs inputs = arguments_.InputsOf(scores, Input(1));
    const LossFactor factor = arguments_.FactorOf(Input(2));
    const float* const x = scores.template data<float>();
    float* const loss = this->template OutputData<float>(0, {});
    float* const p = this->template OutputData<float>(1, scores.sizes());
    SoftmaxChannels(context_, inputs.groups, inputs.classes, inputs.positions, x, p);
    inputs.probabilities = p;
    SoftmaxFocalSum(context_, inputs, factor, &scratch_, loss);
    return true;
  }

 private:
  const SoftmaxFocalArguments arguments_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class SoftmaxFocalLossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxFocalLossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args()) {}

  bool RunOnDevice() override {
    const Tensor& scores = Input(0);
    SoftmaxFocalInputs inputs = arguments_.InputsOf(scores, Input(1));
    const LossFactor factor = arguments_.FactorOf(Input(2));
    CheckAsManyElements(Input(3), 3, "probabilities", scores, "scores");
    inputs.probabilities = Input(3).template data<float>();
    const float* const dloss = OneFloat(Input(4), 4, "d_loss");
    SoftmaxFocalGradients(context_, inputs, factor, dloss,
                          this->template OutputData<float>(0, scores.sizes()));
    return true;
  }

 private:
  const SoftmaxFocalArguments arguments_;
};

}  // namespace caffe2rt
