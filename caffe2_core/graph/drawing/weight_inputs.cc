#include "caffe2_core/graph/drawing/weight_inputs.h"

#include <string_view>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/drawing/operator_family.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

// Whether the inputs of such an operator after the first are weights. Of types that do not state it,
// the name decides.
bool HasWeights(const std::string& type) {
  if (TraitsOf(type).has_weights) return true;
  if (type.find("PRelu") != std::string::npos || type.find("FC") != std::string::npos) return true;
  for (const std::string_view part : {"LSTM", "GRU", "Recurrent", "SparseLengths", "Linear"}) {
    if (type.find(part) != std::string::npos) return true;
  }
  const OperatorFamily family = FamilyOf(type);
  return family == OperatorFamily::kConv || family == OperatorFamily::kNorm;
}

// Whether the operator applies a blob with few elements to a larger one, as old exporters wrote the
// scales and biases of channels.
bool AppliesPerChannel(const OperatorDef& op) {
  return op.input_size() == 2 && FamilyOf(op.type()) == OperatorFamily::kElementwise &&
         GetArgumentPtr(op, "axis") != nullptr && GetFlagArgument(op, "broadcast");
}

// Whether the operator updates one of several inputs, as the optimizers do.
bool UpdatesState(const NetBlobs& blobs, size_t op) {
  if (blobs.inputs(op).size() < 2) return false;
  for (size_t i = 0; i < blobs.outputs(op).size(); ++i) {
    if (blobs.is_in_place(op, i) && blobs.outputs(op)[i] != blobs.inputs(op)[0]) return true;
    if (blobs.is_in_place(op, i) && blobs.input_writers(op)[0] == NetBlobs::kNone) return true;
  }
  return false;
}

}  // namespace

bool IsWeightInput(const NetDef& net, const NetBlobs& blobs,
                   const std::set<std::string>& parameters, size_t op, size_t k) {
  if (UpdatesState(blobs, op)) return true;
  const auto is_parameter = [&](size_t input) {
    return parameters.contains(blobs.name(blobs.inputs(op)[input]));
  };
  if (k == 0) {
    // An init net may also fill the data with a placeholder, which is then the only such input.
    for (size_t i = 1; i < blobs.inputs(op).size(); ++i) {
      if (is_parameter(0) && !is_parameter(i)) return true;
    }
    return false;
  }
  if (!parameters.empty()) return is_parameter(k);
  const OperatorDef& def = net.op(static_cast<int>(op));
  return HasWeights(def.type()) || AppliesPerChannel(def);
}

}  // namespace caffe2rt
