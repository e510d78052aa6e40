// Int8ChannelShuffle: splits the channels of NHWC images into groups and interleaves them.

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/window_arguments.h"
#include "operators/int8/int8_operator.h"
#include "operators/int8/int8_window.h"

namespace caffe2rt {

namespace {

class Int8ChannelShuffleOp final : public Int8Operator {
 public:
  Int8ChannelShuffleOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws), group_(ReadNhwcWindow(args(), WindowUse::kConv).group) {}

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CheckKeepsQuantization(x);
    CAFFE_ENFORCE_EQ(x.tensor->dim(), 4, "rank of input 0 (X) of shape ", x.tensor->sizes(),
                     ", want [N, H, W, C]");
    const int64_t channels = x.tensor->dim(3);
    CAFFE_ENFORCE(channels > 0 && channels % group_ == 0, "input 0 (X) has shape ",
                  x.tensor->sizes(), ", want a multiple of argument group ", group_,
                  " as channels");
    uint8_t* y = OutputInt8(0, x.tensor->sizes());
    if (x.tensor->numel() == 0) return true;
    const uint8_t* pixel = x.data();
    const int64_t per_group = channels / group_;
    for (int64_t left = x.tensor->numel(); left > 0; left -= channels) {
      for (int64_t i = 0; i < per_group; ++i) {
        for (int64_t g = 0; g < group_; ++g) *y++ = pixel[g * per_group + i];
      }
      pixel += channels;
    }
    return true;
  }

 private:
  const int64_t group_;
};

}  // namespace

void RegisterInt8ChannelShuffle() {
  OpSchema& schema = RegisterInt8Schema("Int8ChannelShuffle", __FILE__)
                         .NumInputs(1)
                         .NumOutputs(1)
                         .Input(0, "X", "a quantized tensor [N, H, W, C]")
                         .Output(0, "Y",
                                 "a quantized tensor with the shape, scale and zero point "
                                 "of X")
                         .IdenticalTypeAndShape()
                         .SetDoc(
                             "Splits the channels of quantized images into groups and interleaves "
                             "them. The window arguments are checked but have no effect; order "
                             "must be NHWC.");
  DeclareWindowArguments(schema, WindowUse::kConv);
  RegisterCpuOperator<Int8ChannelShuffleOp>("Int8ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
