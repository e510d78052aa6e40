#include "operators/norm/channel_backprop_stats.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferChannelBackpropStats(const OperatorDef& def,
                                                   const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() < 2) return UnknownOutputs(def);
  return std::vector<TensorShape>(
      2, CreateTensorShape(std::vector<int64_t>{in[0].dims(1)}, TensorProto::FLOAT));
}

}  // namespace

void RegisterChannelBackpropStats() {
  RegisterSchema("ChannelBackpropStats", __FILE__)
      .NumInputs(4)
      .NumOutputs(2)
      .Input(0, "X", "input of SpatialBN, [N, C, *], of rank 3 or more")
      .Input(1, "mean", "mean of each channel, [C]")
      .Input(2, "inv_std", "1 / sqrt(variance + epsilon) of each channel, [C]")
      .Input(3, "output_grad", "gradient of the output of SpatialBN")
      .Output(0, "scale_grad", "gradient of scale for this batch, [C]")
      .Output(1, "bias_grad", "gradient of bias for this batch, [C]")
      .TensorInferenceFunction(InferChannelBackpropStats)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc(
          "Computes the gradients of scale and bias of SpatialBN for one batch. SpatialBNGradient "
          "with num_batches uses their sums over several batches.");
  RegisterCpuOperator<ChannelBackpropStatsOp<CPUContext>>("ChannelBackpropStats", __FILE__);
  // The operator belongs to a backward pass.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ChannelBackpropStats", __FILE__);
}

}  // namespace caffe2rt
