#pragma once
// ChannelStats: the sums over which SpatialBN normalizes several batches (num_batches).
//   X [N, C, *] or [N, *, C]  ->  sum and sumsq [C]: sums of x and of x^2 over each channel

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/norm/spatial_bn_kernels.h"

namespace caffe2rt {

template <class Context>
class ChannelStatsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  ChannelStatsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    const float* x = X.template data<float>();
    // The sum of dy * x, with dy = x, is the sum of the squares.
    BatchNormGradient sums;
    sums.dbias = this->template OutputData<float>(0, {shape.count});
    sums.dscale = this->template OutputData<float>(1, {shape.count});
    GradientOfBatch(context_, shape, sums, x, x, &scratch_, nullptr);
    return true;
  }

 private:
  const StorageOrder order_;
  BatchNormScratch scratch_;
};

}  // namespace caffe2rt
