#include "operators/norm/channel_stats.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

std::vector<TensorShape> InferChannelStats(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || in[0].dims_size() < 2) return UnknownOutputs(def);
  const bool last = ReadStorageOrder(ArgumentHelper(def)) == StorageOrder::NHWC;
  const int64_t channels = in[0].dims(last ? in[0].dims_size() - 1 : 1);
  return std::vector<TensorShape>(
      2, CreateTensorShape(std::vector<int64_t>{channels}, TensorProto::FLOAT));
}

}  // namespace

void RegisterChannelStats() {
  RegisterSchema("ChannelStats", __FILE__)
      .NumInputs(1)
      .NumOutputs(2)
      .Arg(kStorageOrder)
      .Input(0, "X", "[N, C, *] or [N, *, C]")
      .Output(0, "sum", "sum of the elements of each channel, [C]")
      .Output(1, "sumsq", "sum of the squares of the elements of each channel, [C]")
      .TensorInferenceFunction(InferChannelStats)
      .CostInferenceFunction(PointwiseCostInference<3>)
      .SetDoc(
          "Computes the sum and the sum of squares of each channel, from which SpatialBN with "
          "num_batches computes mean and variance over several batches.");
  RegisterCpuOperator<ChannelStatsOp<CPUContext>>("ChannelStats", __FILE__);
  // SpatialBNGradient computes the gradient of the statistics together with that of SpatialBN.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ChannelStats", __FILE__);
}

}  // namespace caffe2rt
