#pragma once
// SigmoidCrossEntropyWithLogits: the cross entropy of the probability sigmoid(logit) and its target,
// averaged over the last dimension.
//   logits [N.., D], targets [N.., D] float  ->  [N..]
// WeightedSigmoidCrossEntropyWithLogits: each loss is multiplied by its weight first.
//   logits, targets, weights [N.., D] float  ->  [N..]
// The average of no losses is 0.
//
// SigmoidCrossEntropyWithLogitsGradient, WeightedSigmoidCrossEntropyWithLogitsGradient:
//   dY, logits, targets, weights (if weighted)  ->  the gradient of the logits
//
// The loss for the logit x and the target t is
//   log(1 + exp(x)) - t x                 by default
//   (2t - 1) * log(1 + exp(-x))           with log_D_trick
//   (1 - t) * log(1 + exp(x)) - t x       with unjoined_lr_loss

#include <algorithm>

#include "caffe2_core/runtime/operator.h"
#include "operators/loss/loss_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kLogDTrick{
    "log_D_trick", false,
    "1: the loss of a target 0 is log(sigmoid(x)) in place of -log(1 - sigmoid(x)), as in the "
    "training of generators"};
inline constexpr ArgumentSpec<bool> kUnjoinedLrLoss{
    "unjoined_lr_loss", false,
    "1: the loss of a target 1 is -x, for data in which every positive example also occurs as a "
    "negative one"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if both arguments are set.
SigmoidLoss ReadSigmoidLoss(const ArgumentHelper& args);

struct SigmoidLossSize {
  int64_t rows, cols;
};
// `place` is the input that contains the logits. THROWS if an input has another shape.
SigmoidLossSize SizeOfSigmoidLoss(int place, IntArrayRef logits, IntArrayRef targets);
void CheckSigmoidWeights(int place, IntArrayRef logits, IntArrayRef weights);
#pragma GCC visibility pop

template <class Context, bool kWeighted>
class SigmoidCrossEntropyOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidCrossEntropyOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {
    if constexpr (!kWeighted) loss_ = ReadSigmoidLoss(this->args());
  }

  bool RunOnDevice() override {
    const Tensor& logits = Input(0);
    const Tensor& targets = Input(1);
    const auto [rows, cols] = SizeOfSigmoidLoss(0, logits.sizes(), targets.sizes());
    const float* const x = logits.data<float>();
    const float* const t = targets.data<float>();
    const float* w = nullptr;
    if constexpr (kWeighted) {
      CheckSigmoidWeights(0, logits.sizes(), Input(2).sizes());
      w = Input(2).template data<float>();
    }
    const size_t rank = logits.sizes().size();
    const IntArrayRef dims = logits.sizes().slice(0, rank == 0 ? 0 : rank - 1);
    SigmoidLosses(context_, rows, cols, loss_, x, t, w, this->template OutputData<float>(0, dims));
    return true;
  }

 private:
  SigmoidLoss loss_;
};

template <class Context, bool kWeighted>
class SigmoidCrossEntropyGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SigmoidCrossEntropyGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws) {
    if constexpr (!kWeighted) loss_ = ReadSigmoidLoss(this->args());
  }

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& logits = Input(1);
    const Tensor& targets = Input(2);
    const auto [rows, cols] = SizeOfSigmoidLoss(1, logits.sizes(), targets.sizes());
    CAFFE_ENFORCE_EQ(dY.numel(), rows, "elements of input 0 (dY) of shape ", dY.sizes(),
                     ", want one for each row of input 1 (logits) of shape ", logits.sizes());
    const float* const dy = dY.data<float>();
    const float* const x = logits.data<float>();
    const float* const t = targets.data<float>();
    const float* w = nullptr;
    if constexpr (kWeighted) {
      CheckSigmoidWeights(1, logits.sizes(), Input(3).sizes());
      w = Input(3).template data<float>();
    }
    SigmoidLossesGradient(context_, rows, cols, loss_, x, t, w, dy,
                          this->template OutputData<float>(0, logits.sizes()));
    return true;
  }

 private:
  SigmoidLoss loss_;
};

}  // namespace caffe2rt
