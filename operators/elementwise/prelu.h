#pragma once
// PRelu: Y = X for X > 0, slope * X otherwise (He et al. 2015), with one slope per channel or one
// slope for all.
//   X [N, C, *], or [*, C] with order NHWC, float; W [C] or 1 element  ->  Y as X (may be in place)

#include <string>

#include "caffe2_core/runtime/operator.h"
#include "operators/elementwise/prelu_kernels.h"

namespace caffe2rt {

// Any value except "NHWC" means NCHW.
inline constexpr ArgumentSpec<std::string> kPReluOrder{
    "order", "NCHW", "NCHW: channels are dim 1; NHWC: the last dim"};

template <class Context>
class PReluOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PReluOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), channels_last_(this->ReadArgument(kPReluOrder) == "NHWC") {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = Input(1);
    X.data<float>(), W.data<float>();  // THROWS before the output is modified
    CAFFE_ENFORCE_GE(X.dim(), channels_last_ ? 1 : 2, "rank of input 0 (X) of shape ", X.sizes());
    const int channel_dim = channels_last_ ? X.dim() - 1 : 1;
    const int64_t channels = X.dim(channel_dim);
    CAFFE_ENFORCE(W.numel() == 1 || W.numel() == channels, "input 1 (W) has shape ", W.sizes(),
                  ", want ", channels, " slopes, one for each channel of input 0 (X) of shape ",
                  X.sizes(), ", or 1");
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    float* y = Y->template mutable_data<float>();
    if (W.numel() == 1) {
      PRelu(context_, 1, 1, X.numel(), X.data<float>(), W.data<float>(), y);
    } else {
      PRelu(context_, X.size_to_dim(channel_dim), channels, X.size_from_dim(channel_dim + 1),
            X.data<float>(), W.data<float>(), y);
    }
    return true;
  }

 private:
  const bool channels_last_;
};

}  // namespace caffe2rt
