#pragma once
// ChannelShuffle: splits C channels into `group` groups and interleaves them (ShuffleNet, Zhang et
// al. 2017, section 3.1).
//   X [N, C, *], C divisible by group  ->  Y [N, C, *]
//   Y[n, i * group + g] = X[n, g * C / group + i]
// In NHWC the channels are the last dimension.
//
// ChannelShuffleGradient: dY -> dX, the inverse: ChannelShuffle with C / group groups.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"
#include "operators/common/order_argument.h"
#include "operators/image/channel_shuffle_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kShuffleGroup{
    "group",
    1,
    "number of groups into which the channels are split",
    {[](int group) { return group > 0; }, "above 0"}};

template <class Context, bool kGradient>
class ChannelShuffleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ChannelShuffleOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        group_(this->ReadArgument(kShuffleGroup)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_EQ(shape.count % group_, 0, "remainder of the channels of input 0 (",
                     kGradient ? "dY" : "X", ") of shape ", X.sizes(),
                     " divided by argument group ", group_, ", want 0");
    const float* x = X.template data<float>();
    float* y = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const int64_t outer = shape.batch * (shape.last ? shape.positions : 1);
    const int64_t inner = shape.last ? 1 : shape.positions;
    const int64_t groups = kGradient ? shape.count / group_ : group_;
    InterleaveChannels(context_, outer, shape.count, inner, groups, x, y);
    return true;
  }

 private:
  const int group_;
  const StorageOrder order_;
};

}  // namespace caffe2rt
