#pragma once
// PRelu: Y = X for X > 0, slope * X otherwise (He et al. 2015), with one slope per channel or one
// slope for all.
//   X [N, C, *], or [*, C] with order NHWC, float; W [C] or 1 element  ->  Y as X (may be in place)
//
// PReluGradient: Y (not used), dY, X, W  ->  dX, dW

#include "caffe2_core/runtime/operator.h"
#include "operators/common/order_argument.h"
#include "operators/elementwise/operand_gradient.h"
#include "operators/elementwise/prelu_kernels.h"

namespace caffe2rt {

// X as [outer, channels, inner]; one channel if there is one slope for all.
struct PReluSize {
  int64_t outer, channels, inner;
};
// THROWS if W has neither one element nor one for each channel. X is input `place`, W the next one.
inline PReluSize SizeOfPRelu(const Tensor& X, const Tensor& W, int place, bool channels_last) {
  CAFFE_ENFORCE_GE(X.dim(), channels_last ? 1 : 2, "rank of input ", place, " (X) of shape ",
                   X.sizes());
  const int channel_dim = channels_last ? X.dim() - 1 : 1;
  const int64_t channels = X.dim(channel_dim);
  CAFFE_ENFORCE(W.numel() == 1 || W.numel() == channels, "input ", place + 1, " (W) has shape ",
                W.sizes(), ", want ", channels, " slopes, one for each channel of input ", place,
                " (X) of shape ", X.sizes(), ", or 1");
  if (W.numel() == 1) return {1, 1, X.numel()};
  return {X.size_to_dim(channel_dim), channels, X.size_from_dim(channel_dim + 1)};
}

template <class Context>
class PReluOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PReluOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), channels_last_(ReadStorageOrder(this->args()) == StorageOrder::NHWC) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    X.data<float>(), W.data<float>();  // THROWS before the output is modified
    const PReluSize size = SizeOfPRelu(X, W, 0, channels_last_);
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    float* y = Y->template mutable_data<float>();
    PRelu(context_, size.outer, size.channels, size.inner, X.data<float>(), W.data<float>(), y);
    return true;
  }

 private:
  const bool channels_last_;
};

template <class Context>
class PReluGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PReluGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), channels_last_(ReadStorageOrder(this->args()) == StorageOrder::NHWC) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(1);
    const Tensor& X = Input(2);
    const Tensor& W = Input(3);
    const PReluSize size = SizeOfPRelu(X, W, 2, channels_last_);
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 1 (dY) of shape ", dY.sizes(),
                     ", want as many as input 2 (X) of shape ", X.sizes());
    const float* const dy = dY.data<float>();
    const float* const x = X.data<float>();
    const float* const slopes = W.data<float>();
    float* const dx = Output(0, X.sizes(), TypeMeta::Make<float>())->template mutable_data<float>();
    float* const dw = Output(1, W.sizes(), TypeMeta::Make<float>())->template mutable_data<float>();
    if (X.numel() > 0) {
      PReluGradient(context_, size.outer, size.channels, size.inner, x, slopes, dy, dx, dw);
    } else {
      SetToZero(context_, W.numel(), dw);
    }
    return true;
  }

 private:
  const bool channels_last_;
};

}  // namespace caffe2rt
