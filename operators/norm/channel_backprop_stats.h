#pragma once
// ChannelBackpropStats: the gradients of scale and bias of SpatialBN for one of several batches.
// Their sums over the batches are inputs 5 and 6 of SpatialBNGradient.
//   X [N, C, *] of rank 3 or more, mean, inv_std [C], output_grad as X
//   ->  scale_grad [C] = sum of output_grad * (X - mean) * inv_std, bias_grad [C] = sum of output_grad

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/norm/spatial_bn_kernels.h"

namespace caffe2rt {

template <class Context>
class ChannelBackpropStatsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  using Operator<Context>::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(3);
    CAFFE_ENFORCE_GE(X.dim(), 3, "rank of input 0 (X) of shape ", X.sizes(), ", want at least 3");
    const Channels shape = ChannelsOf(X, StorageOrder::NCHW);
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 3 (output_grad) of shape ",
                     dY.sizes(), ", want as many as input 0 (X) of shape ", X.sizes());
    const float* x = X.template data<float>();
    const float* dy = dY.template data<float>();
    BatchNormGradient sums{.mean = ChannelVector(Input(1), 1, "mean", shape.count),
                           .inverse = ChannelVector(Input(2), 2, "inv_std", shape.count)};
    sums.dscale = this->template OutputData<float>(0, {shape.count});
    sums.dbias = this->template OutputData<float>(1, {shape.count});
    GradientOfBatch(context_, shape, sums, x, dy, &scratch_, nullptr);
    return true;
  }

 private:
  BatchNormScratch scratch_;
};

}  // namespace caffe2rt
