#include "operators/conv/conv.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/order_argument.h"
#include "operators/common/window_arguments.h"
#include "operators/conv/conv_arguments.h"

namespace caffe2rt {

namespace {
// The shapes with the channels of X that the filter wants. Costs are asked before a net runs, for
// shapes that its operators would reject, too; the filter then tells the number of multiplications.
std::vector<TensorShape> WithChannelsOfFilter(const OperatorDef& def, std::vector<TensorShape> in) {
  const int rank = in[0].dims_size();
  if (rank < 3 || in[1].dims_size() != rank) return in;
  const ArgumentHelper args(def);
  const bool channels_last = ReadStorageOrder(args) == StorageOrder::NHWC;
  const int axis = channels_last ? rank - 1 : 1;
  in[0].set_dims(axis, in[1].dims(axis) * args.Read(kConvGroup));
  return in;
}
}  // namespace

OpSchema::Cost ConvCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 2)) return cost;
  const std::vector<TensorShape> out = InferConvShape(def, WithChannelsOfFilter(def, in));
  const uint64_t outputs = NumElements(out[0]), weights = NumElements(in[1]);
  const uint64_t filters = static_cast<uint64_t>(in[1].dims(0));
  const bool bias = in.size() > 2;
  cost.flops = outputs * (filters > 0 ? 2 * (weights / filters) : 0) + (bias ? outputs : 0);
  cost.params_bytes = (weights + (bias ? filters : 0)) * sizeof(float);
  cost.bytes_read = NumElements(in[0]) * sizeof(float) + cost.params_bytes;
  cost.bytes_written = outputs * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

MemoryTraits::Extra ConvExtraMemory(const OperatorDef& def, const std::vector<TensorShape>& in,
                                    const std::vector<TensorShape>&) {
  if (in.size() < 2) return {};
  // On IDEEP, the algorithm depends on the layout of X.
  if (def.device_option().device_type() == IDEEP) return {.prepared_unknown = true};
  const ArgumentHelper args(def);
  const ConvShape shape = MakeConvShape(ParseWindowArguments(args, WindowUse::kConv),
                                        GetDimsVector(in[0]), GetDimsVector(in[1]), in.size() > 2);
  const ConvPlan plan(shape, {.deterministic = args.Read(kDeterministic) != 0});
  return {.scratch_bytes = plan.ScratchBytes(), .prepared_bytes = plan.PreparedBytes()};
}

namespace {

void RegisterType(const char* type) {
  OpSchema& schema =
      RegisterSchema(type, __FILE__)
          .NumInputs(2, 3)
          .NumOutputs(1)
          .TensorInferenceFunction(InferConvShape)
          .CostInferenceFunction(ConvCost)
          .DeviceInferenceFunction(OnednnWeightsOnCpu({1, 2}))
          .FloatInputs(3)
          .Traits({.family = OperatorFamily::kConv,
                   .writes_float = true,
                   .linear = LinearForm::kConv,
                   .onednn = {OnednnRole::kConvolution, OnednnArguments::kImageWindow},
                   .multiply_adds = MultiplyAddCount::kConv,
                   .has_weights = true})
          .Memory({.extra = ConvExtraMemory})
          .SetDoc(
              "Computes the convolution of the input with a filter, and adds an optional bias. The "
              "filter is not flipped. The number of spatial axes is the number of kernel sizes; "
              "padding, stride, dilation and groups are supported.")
          .Input(0, "X",
                 "input, [N, C, H, W] or [N, H, W, C]; the number of spatial axes may differ")
          .Input(1, "filter",
                 "weights, [M, C / group, kernel...] in NCHW, [M, kernel..., C / group] in NHWC")
          .Input(2, "bias", "optional bias, [M]: one value for each output channel")
          .Output(0, "Y", "result, in the layout of X, with M channels");
  DeclareWindowArguments(schema, WindowUse::kConv);
  DeclareConvArguments(schema);
  schema.Args(kOnednnLayout, kWinogradFilterBytes, kPrecision, kOutputPrecision, kLeastPrecision,
              kInputMin, kInputMax, kOutputMin, kOutputMax);
  RegisterCpuOperator<ConvOp<CPUContext, ConvOnCpu>>(type, __FILE__);
}

}  // namespace

void RegisterConv() {
  for (const char* type : {"Conv", "Conv1D", "Conv2D", "Conv3D"}) RegisterType(type);
}

}  // namespace caffe2rt
