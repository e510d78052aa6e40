#include "caffe2_core/export/stated_weights.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

enum class Form { kList, kNumber, kScales };

struct ParameterInput {
  std::string_view type;
  int input;  // this one and those after it are parameters
  const char* argument;
  Form form;
};
// The last inputs of a type come first.
constexpr ParameterInput kParameterInputs[] = {
    {"Slice", 2, "ends", Form::kList},       {"Slice", 1, "starts", Form::kList},
    {"Split", 1, "split", Form::kList},      {"DepthSplit", 1, "split", Form::kList},
    {"Reshape", 1, "shape", Form::kList},    {"Tile", 2, "axis", Form::kNumber},
    {"Tile", 1, "tiles", Form::kNumber},     {"TopK", 1, "k", Form::kNumber},
    {"ResizeNearest", 1, "", Form::kScales}, {"UpsampleBilinear", 1, "", Form::kScales},
};

std::vector<int64_t> Integers(const Tensor& weight) {
  if (weight.IsType<int64_t>()) {
    return {weight.data<int64_t>(), weight.data<int64_t>() + weight.numel()};
  }
  if (!weight.IsType<int32_t>()) return {};
  return {weight.data<int32_t>(), weight.data<int32_t>() + weight.numel()};
}

void SetArgument(const Argument& argument, OperatorDef* op) {
  *GetMutableArgument(argument.name(), true, op) = argument;
}

// Whether the argument could be stated.
bool State(const ParameterInput& row, const Tensor& weight, OperatorDef* op) {
  if (row.form == Form::kScales) {
    if (!weight.IsType<float>() || weight.numel() != 2) return false;
    SetArgument(MakeArgument("height_scale", weight.data<float>()[0]), op);
    SetArgument(MakeArgument("width_scale", weight.data<float>()[1]), op);
    return true;
  }
  const std::vector<int64_t> values = Integers(weight);
  if (values.empty()) return false;
  if (row.form == Form::kList) {
    SetArgument(MakeArgument(row.argument, values), op);
  } else if (GetArgumentPtr(*op, row.argument) == nullptr || row.type != "TopK") {
    SetArgument(MakeArgument(row.argument, values[0]), op);
  }
  return true;
}

}  // namespace

NetDef StateWeightsAsArguments(const NetDef& net, const OnnxExportOptions& options) {
  std::set<std::string> written;
  for (const OperatorDef& op : net.op()) written.insert(op.output().begin(), op.output().end());
  NetDef stated = net;
  for (OperatorDef& op : *stated.mutable_op()) {
    for (const ParameterInput& row : kParameterInputs) {
      if (row.type != op.type() || op.input_size() != row.input + 1) continue;
      const std::string& name = op.input(row.input);
      const auto weight = options.weights.find(name);
      if (weight == options.weights.end() || written.contains(name)) continue;
      if (State(row, *weight->second, &op)) op.mutable_input()->RemoveLast();
    }
  }
  return stated;
}

}  // namespace caffe2rt
