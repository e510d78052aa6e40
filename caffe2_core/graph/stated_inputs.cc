#include "caffe2_core/graph/stated_inputs.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace caffe2rt {
namespace {

constexpr std::string_view kType = "input_type:", kDims = "input_dims:",
                           kOutputDims = "output_dims:", kOutputFormat = "output_format:";
constexpr int kMaxDims = 32;

Argument* AddArgument(std::string_view prefix, const std::string& name, NetDef* net) {
  Argument* arg = net->add_arg();
  arg->set_name(std::string(prefix) + name);
  return arg;
}

void SetDims(const std::vector<int64_t>& dims, Argument* arg) {
  arg->mutable_ints()->Add(dims.begin(), dims.end());
}

bool HasDims(const Argument& arg) {
  return arg.ints_size() <= kMaxDims &&
         std::all_of(arg.ints().begin(), arg.ints().end(), [](int64_t dim) { return dim >= -1; });
}

bool HasType(const Argument& arg) {
  return arg.i() > 0 && arg.i() <= std::numeric_limits<int>::max() &&
         TensorProto_DataType_IsValid(static_cast<int>(arg.i()));
}

}  // namespace

void StateInput(const std::string& name, const StatedInput& input, NetDef* net) {
  AddArgument(kType, name, net)->set_i(input.type);
  if (input.has_dims) SetDims(input.dims, AddArgument(kDims, name, net));
}

void StateOutput(const std::string& name, const std::vector<int64_t>& dims, NetDef* net) {
  SetDims(dims, AddArgument(kOutputDims, name, net));
}

void StateOutputFormat(const std::string& name, const std::string& format, NetDef* net) {
  AddArgument(kOutputFormat, name, net)->set_s(format);
}

std::map<std::string, StatedInput> StatedInputs(const NetDef& net) {
  std::map<std::string, StatedInput> inputs;
  for (const Argument& arg : net.arg()) {
    if (!arg.name().starts_with(kType) || !HasType(arg)) continue;
    inputs[arg.name().substr(kType.size())].type = static_cast<TensorProto_DataType>(arg.i());
  }
  for (const Argument& arg : net.arg()) {
    if (!arg.name().starts_with(kDims) || !HasDims(arg)) continue;
    const auto input = inputs.find(arg.name().substr(kDims.size()));
    if (input == inputs.end()) continue;
    input->second.has_dims = true;
    input->second.dims.assign(arg.ints().begin(), arg.ints().end());
  }
  return inputs;
}

std::map<std::string, std::vector<int64_t>> StatedOutputs(const NetDef& net) {
  std::map<std::string, std::vector<int64_t>> outputs;
  for (const Argument& arg : net.arg()) {
    if (!arg.name().starts_with(kOutputDims) || !HasDims(arg)) continue;
    outputs[arg.name().substr(kOutputDims.size())].assign(arg.ints().begin(), arg.ints().end());
  }
  return outputs;
}

std::map<std::string, std::string> StatedOutputFormats(const NetDef& net) {
  std::map<std::string, std::string> formats;
  for (const Argument& arg : net.arg()) {
    if (arg.name().starts_with(kOutputFormat) && arg.has_s()) {
      formats[arg.name().substr(kOutputFormat.size())] = arg.s();
    }
  }
  return formats;
}

}  // namespace caffe2rt
