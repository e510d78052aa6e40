// Normalizations and Softmax.

#include <numeric>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

float EpsilonOf(const OperatorExport& op) {
  return op.args.GetSingleArgument<float>("epsilon", 1e-5f);
}

void WriteSpatialBN(OperatorExport* op) {
  CAFFE_ENFORCE(
      op->args.GetSingleArgument<int>("is_test", 0) != 0,
      "SpatialBN computes the statistics of its batch; want argument is_test 1 in a net that "
      "is exported");
  op->RefuseOutputsFrom(1);
  std::vector<std::string> inputs;
  for (int i = 0; i < 5; ++i) inputs.push_back(op->In(i));
  op->NodeNCHW("BatchNormalization", inputs, op->IsNHWC() ? op->Rank(0) : 0,
               {Float("epsilon", EpsilonOf(*op))});
}

void WriteLRN(OperatorExport* op) {
  op->RefuseOutputsFrom(1);
  const auto size = op->args.GetSingleArgument<int64_t>("size", 0);
  CAFFE_ENFORCE(size > 0, "argument size of LRN is ", size, ", which has no counterpart in ONNX");
  op->NodeNCHW("LRN", {op->In(0)}, 4,
               {Int("size", size), Float("alpha", op->args.GetSingleArgument<float>("alpha", 0)),
                Float("beta", op->args.GetSingleArgument<float>("beta", 0)),
                Float("bias", op->args.GetSingleArgument<float>("bias", 1))});
}

void WriteInstanceNorm(OperatorExport* op) {
  op->RefuseOutputsFrom(1);
  op->NodeNCHW("InstanceNormalization", op->Ins(), op->IsNHWC() ? op->Rank(0) : 0,
               {Float("epsilon", EpsilonOf(*op))});
}

// The groups are the channels of an InstanceNormalization, and each channel has its scale and bias.
void WriteGroupNorm(OperatorExport* op) {
  op->RefuseOutputsFrom(1);
  OnnxGraph& graph = op->graph();
  const auto group = op->args.GetSingleArgument<int64_t>("group", 32);
  const OnnxDims dims = op->InputDims(0);
  const int rank = static_cast<int>(dims.size());
  const std::string x = op->In(0), gamma = op->In(1), beta = op->In(2);
  const std::string data = op->IsNHWC() ? op->FromNHWC(x, rank) : x;
  const std::string groups = op->Emit("Reshape", {data, graph.Constant({0, group, -1})});
  const std::string normal = op->Emit("InstanceNormalization",
                                      {groups, graph.Filled({group}, 1), graph.Filled({group}, 0)},
                                      {Float("epsilon", EpsilonOf(*op))});
  const std::string back = op->Emit("Reshape", {normal, op->Emit("Shape", {data})});
  OnnxDims channel = {op->InputDims(1).at(0)};
  channel.insert(channel.end(), static_cast<size_t>(rank - 2), 1);
  const std::string per_channel = graph.Constant(channel);
  const std::string scaled = op->Emit("Mul", {back, op->Emit("Reshape", {gamma, per_channel})});
  const std::string bias = op->Emit("Reshape", {beta, per_channel});
  if (!op->IsNHWC()) return op->Node("Add", {scaled, bias}, {op->Out()});
  const std::string sum = op->Emit("Add", {scaled, bias});
  op->ToNHWC(sum, rank, op->Out());
}

// A mean or a deviation has one dim of 1 for all dims of its row; ONNX has one for each.
void WriteMoment(OperatorExport* op, const std::string& moment, int64_t axis, int output) {
  if (!op->IsRead(output)) return;
  std::vector<int64_t> axes(static_cast<size_t>(op->Rank(0) - axis - 1));
  std::iota(axes.begin(), axes.end(), axis + 1);
  if (axes.empty()) return op->Node("Identity", {moment}, {op->Out(output)});
  op->Node("Squeeze", {moment, op->graph().Constant(axes)}, {op->Out(output)});
}

// Y, the mean, and the inverse of the deviation, as far as they are read.
std::vector<std::string> LayerNormOutputs(OperatorExport* op) {
  std::vector<std::string> outputs = {op->Out()};
  if (!op->IsRead(1) && !op->IsRead(2)) return outputs;
  outputs.push_back(op->graph().NewName(op->def().output(1) + "_rows"));
  if (op->IsRead(2)) outputs.push_back(op->graph().NewName(op->def().output(2) + "_inverse"));
  return outputs;
}

void WriteLayerNorm(OperatorExport* op) {
  CAFFE_ENFORCE_GE(op->graph().opset(), 17, "LayerNorm needs opset 17; opset");
  const auto axis =
      op->args.GetSingleArgument<int64_t>("axis", 1);  // ONNX counts from the end, too
  const bool affine = op->args.GetSingleArgument<int>("elementwise_affine", 0) != 0;
  std::vector<std::string> inputs = {op->In(0)};
  if (affine) {
    inputs.push_back(op->In(1));
    inputs.push_back(op->In(2));
  } else {
    const OnnxDims dims = op->InputDims(0);
    inputs.push_back(
        op->graph().Filled({dims.begin() + op->Axis("axis", 1), dims.end()}, 1, op->InputType(0)));
  }
  const std::vector<std::string> outputs = LayerNormOutputs(op);
  op->Node("LayerNormalization", inputs, outputs,
           {Int("axis", axis), Float("epsilon", EpsilonOf(*op))});
  if (outputs.size() < 2) return;
  const int64_t first = op->Axis("axis", 1);
  WriteMoment(op, outputs[1], first, 1);
  if (outputs.size() > 2) WriteMoment(op, op->Emit("Reciprocal", {outputs[2]}), first, 2);
}

// The rows of Caffe2 begin at `axis`; ONNX has one axis.
void WriteSoftmax(OperatorExport* op) {
  const std::string x = op->In(0);
  // The last axis needs no rank.
  const bool is_last = op->args.GetSingleArgument<int64_t>("axis", 1) == -1 ||
                       op->Axis("axis", 1) == op->Rank(0) - 1;
  if (is_last) return op->Node("Softmax", {x}, {op->Out()}, {Int("axis", -1)});
  const int64_t axis = op->Axis("axis", 1);
  const std::string shape = op->Emit("Shape", {x});
  const std::string rows = op->Emit("Flatten", {x}, {Int("axis", axis)});
  const std::string softmax = op->Emit("Softmax", {rows}, {Int("axis", -1)});
  op->Node("Reshape", {softmax, shape}, {op->Out()});
}

void WriteNormalize(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("LpNormalization", {x}, {op->Out()},
           {Int("axis", op->args.GetSingleArgument<int64_t>("axis", -1)),
            Int("p", op->def().type() == "NormalizeL1" ? 1 : 2)});
}

}  // namespace

std::vector<OnnxExportRow> NormalizationExportRows() {
  return {
      {"SpatialBN", WriteSpatialBN},       {"LRN", WriteLRN},
      {"InstanceNorm", WriteInstanceNorm}, {"GroupNorm", WriteGroupNorm},
      {"LayerNorm", WriteLayerNorm},       {"Softmax", WriteSoftmax},
      {"Normalize", WriteNormalize},       {"NormalizeL1", WriteNormalize},
  };
}

}  // namespace caffe2rt
