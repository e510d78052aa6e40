#pragma once
// SoftmaxWithLoss, SpatialSoftmaxWithLoss: softmax and the average cross entropy of its results with
// the labels.
//   X [N.., D..], where D.. begins at `axis`, labels int32 [N..], optional weights of N elements
//   ->  softmax of the shape of X, loss: scalar
// With label_prob the labels are the probability of each class, of the size of X. As in Caffe2, the
// logarithm of a probability below 1e-20 is then that of 1e-20, and so it is in SpatialSoftmaxWithLoss;
// for labels of rows it is exact. SpatialSoftmaxWithLoss
// computes the softmax over the channels at each position:
//   X [N, D, H, W], labels int32 [N, H, W], optional weights [N, H, W]
// There a label -1 means that the position is left out. As in Caffe2, its loss is not multiplied by
// `scale`, although its gradient is.
//
// SoftmaxWithLossGradient, SpatialSoftmaxWithLossGradient: the inputs, softmax, gradient of the loss
//   ->  dX

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/common/softmax_rows.h"
#include "operators/loss/softmax_with_loss_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSoftmaxLossScale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<bool> kSoftmaxLossLabelProb{
    "label_prob", false, "1: the labels are the probability of each class"};
inline constexpr ArgumentSpec<bool> kSoftmaxLossAverageByBatchSize{
    "average_by_batch_size", false,
    "1: divide the loss by the batch size; 0: by the sum of the weights"};
inline constexpr ArgumentSpec<int> kSoftmaxLossAxis{
    "axis", 1, "first axis of the classes; a negative axis counts from the end"};
inline constexpr ArgumentSpec<bool> kSoftmaxLossOnlyLoss{
    "only_loss", false, "has no effect: the gradient does not overwrite the softmax"};

// What the losses and their gradients have in common: arguments, and checks of the inputs.
class [[gnu::visibility("default")]] SoftmaxLossArguments {
 public:
  // THROWS if the order is not NCHW.
  SoftmaxLossArguments(const ArgumentHelper& args, bool spatial);

  float scale() const { return scale_; }
  // The shapes and the targets. `weights` may be null. THROWS if they do not match X.
  LossShape ShapeOf(const Tensor& X) const;
  LossTargets TargetsOf(const Tensor& X, const Tensor& labels, const Tensor* weights) const;

 private:
  void CheckLabels(const Tensor& X, const Tensor& labels) const;

  const bool spatial_;
  const float scale_;
  const bool label_prob_, average_by_batch_size_;
  const int axis_;
};

template <class Context, bool kSpatial>
class SoftmaxWithLossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxWithLossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args(), kSpatial) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.template data<float>();
    const LossShape shape = arguments_.ShapeOf(X);
    const LossTargets targets =
        arguments_.TargetsOf(X, Input(1), this->InputSize() > 2 ? &Input(2) : nullptr);
    float* softmax = this->template OutputData<float>(0, X.sizes());
    float* loss = this->template OutputData<float>(1, {});
    if (kSpatial) {
      SoftmaxChannels(context_, shape.batch, shape.classes, shape.positions, x, softmax);
    } else {
      SoftmaxRows(context_, shape.batch, shape.classes, x, softmax);
    }
    scratch_.Resize(LossScratchBytes(context_));
    AverageLoss(context_, shape, targets, kSpatial ? 1 : arguments_.scale(), kSpatial ? nullptr : x,
                softmax, scratch_.template mutable_data<uint8_t>(), loss);
    return true;
  }

 private:
  const SoftmaxLossArguments arguments_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context, bool kSpatial>
class SoftmaxWithLossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SoftmaxWithLossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(this->args(), kSpatial) {}

  bool RunOnDevice() override {
    const int last = this->InputSize() - 1;
    const Tensor& X = Input(0);
    const Tensor& softmax = Input(last - 1);
    const Tensor& dloss = Input(last);
    const LossShape shape = arguments_.ShapeOf(X);
    CAFFE_ENFORCE_EQ(softmax.numel(), X.numel(), "elements of input ", last - 1,
                     " (softmax) of shape ", softmax.sizes(), ", want as many as input 0 (X)");
    CAFFE_ENFORCE_EQ(dloss.numel(), 1, "elements of input ", last, " (gradient of the loss)");
    const float* p = softmax.template data<float>();
    const float* d = dloss.template data<float>();
    const LossTargets targets = arguments_.TargetsOf(X, Input(1), last > 3 ? &Input(2) : nullptr);
    float* dx = this->template OutputData<float>(0, X.sizes());
    scratch_.Resize(LossScratchBytes(context_));
    AverageLossGradient(context_, shape, targets, arguments_.scale(), p, d,
                        scratch_.template mutable_data<uint8_t>(), dx);
    return true;
  }

 private:
  const SoftmaxLossArguments arguments_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
