#pragma once
// ChannelShuffle: splits C channels into `group` groups and interleaves them (ShuffleNet, Zhang et
// al. 2017, section 3.1).
//   X [N, C, *], C divisible by group  ->  Y [N, C, *],  Y[n, i * group + g] = X[n, g * C/group +
//   i]
// NHWC: the same over the last dimension.

#include <string>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"

namespace caffe2rt {

class CUDAContext;

void InterleaveChannels(CPUContext& context, const Channels& shape, int64_t group, const float* x,
                        float* y);
void InterleaveChannels(CUDAContext& context, const Channels& shape, int64_t group, const float* x,
                        float* y);

template <class Context>
class ChannelShuffleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ChannelShuffleOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        group_(this->template GetSingleArgument<int>("group", 1)),
        order_(
            StringToStorageOrder(this->template GetSingleArgument<std::string>("order", "NCHW"))) {
    CAFFE_ENFORCE_GE(group_, 1, "argument group, want at least 1");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_EQ(shape.count % group_, 0, "channels of input 0 (X) of shape ", X.sizes(),
                     " over argument group ", group_, " leave a rest, want none");
    const float* x = X.template data<float>();
    float* y = this->template OutputData<float>(0, X.sizes());
    if (X.numel() > 0) InterleaveChannels(context_, shape, group_, x, y);
    return true;
  }

 private:
  const int group_;
  const StorageOrder order_;
};

}  // namespace caffe2rt
