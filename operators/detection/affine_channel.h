#pragma once
// AffineChannel: Y = X * scale + bias for each channel.
//   X [N, C, *] (NHWC: [N, *, C]), scale [C], bias [C]  ->  Y, which may be X
//
// AffineChannelGradient: dY, scale  ->  dX, which may be dY
// or, if scale and bias are learned (is_learnable): dY, X, scale  ->  dX, dscale, dbias
//
// As in Caffe2, scale and bias may have more numbers than there are channels: the first ones are used.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"
#include "operators/common/copy_rows.h"
#include "operators/common/order_argument.h"
#include "operators/detection/affine_channel_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kAffineChannelIsLearnable{"is_learnable", false,
                                                              "1: scale and bias have gradients"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The data of input `i`. THROWS if `elements`, those of X, are not 0 and the input has less than one
// number for each channel.
const float* AffineVector(const Tensor& tensor, int i, const char* name, int64_t channels,
                          int64_t elements);
// THROWS if is_learnable does not fit the number of inputs and outputs of the gradient operator.
void CheckAffineGradient(bool is_learnable, int inputs, int outputs);
#pragma GCC visibility pop

template <class Context>
class AffineChannelOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AffineChannelOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        order_(ReadStorageOrder(this->args())),
        is_learnable_(this->ReadArgument(kAffineChannelIsLearnable)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(!is_learnable_ || !this->IsInputOutputAlias(0, 0),
                  "output 0 (Y) is input 0 (X), want another blob because argument is_learnable is "
                  "1: the gradient needs X");
    const Channels channels = ChannelsOf(X, order_);
    const float* const scale = AffineVector(Input(1), 1, "scale", channels.count, X.numel());
    const float* const bias = AffineVector(Input(2), 2, "bias", channels.count, X.numel());
    const float* const x = X.template data<float>();
    float* const y = this->template OutputData<float>(0, X.sizes());
    if (Output(0)->numel() > 0) ScaleChannels(context_, channels, x, scale, bias, y);
    return true;
  }

 private:
  const StorageOrder order_;
  const bool is_learnable_;
};

template <class Context>
class AffineChannelGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AffineChannelGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        order_(ReadStorageOrder(this->args())),
        is_learnable_(this->ReadArgument(kAffineChannelIsLearnable)) {
    CheckAffineGradient(is_learnable_, InputSize(), OutputSize());
  }

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Channels channels = ChannelsOf(dY, order_);
    const int place = is_learnable_ ? 2 : 1;
    const float* const scale =
        AffineVector(Input(place), place, "scale", channels.count, dY.numel());
    const float* const dy = dY.template data<float>();
    if (is_learnable_) {
      const Tensor& X = Input(1);
      CAFFE_ENFORCE(X.sizes() == dY.sizes(), "input 1 (X) has shape ", X.sizes(),
                    ", want that of input 0 (dY) ", dY.sizes());
      const float* const x = X.template data<float>();
      const Tensor& S = Input(2);
      CAFFE_ENFORCE_EQ(S.numel(), channels.count, "elements of input 2 (scale) of shape ",
                       S.sizes(), ", want one for each channel of input 0 (dY)");
      float* const dscale = this->template OutputData<float>(1, S.sizes());
      float* const dbias = this->template OutputData<float>(2, S.sizes());
      if (dY.numel() > 0) {
        SumChannels(context_, channels, dy, x, dscale, dbias);
      } else if (S.numel() > 0) {
        FillZeros(context_, S.nbytes(), dscale);
        FillZeros(context_, S.nbytes(), dbias);
      }
    }
    float* const dx = this->template OutputData<float>(0, dY.sizes());
    if (Output(0)->numel() > 0) ScaleChannels(context_, channels, dy, scale, nullptr, dx);
    return true;
  }

 private:
  const StorageOrder order_;
  const bool is_learnable_;
};

}  // namespace caffe2rt
