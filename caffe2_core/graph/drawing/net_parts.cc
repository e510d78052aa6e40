#include "caffe2_core/graph/drawing/net_parts.h"

#include <algorithm>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

bool StartsBackwardPass(const OperatorDef& op) {
  return TraitsOf(op.type()).fill == FillForm::kConstant && op.output_size() == 1 &&
         op.output(0).ends_with("_autogen_grad");
}

}  // namespace

NetParts::NetParts(const DrawnNet& drawn, bool fold)
    : net(*drawn.net),
      summary(*drawn.summary),
      blobs(net),
      read_first(blobs.size(), false),
      node_of_op(blobs.num_operators(), 0) {
  if (fold) blocks = FindRepeatedBlocks(net, blobs);
  block_groups.assign(blocks.size(), FlowGroup::kNone);
  for (const uint32_t blob : blobs.read_first()) read_first[blob] = true;
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    positions.push_back(PositionIn(blocks, op));
    const OperatorDef& def = net.op(static_cast<int>(op));
    bool is_backward = def.is_gradient_op() || StartsBackwardPass(def);
    for (const uint32_t writer : blobs.input_writers(op))
      is_backward = is_backward || (writer != NetBlobs::kNone && backward[writer]);
    backward.push_back(is_backward);
  }
}

bool NetParts::IsLonelyFill(size_t op) const {
  if (!blobs.inputs(op).empty() || !blobs.control_inputs(op).empty()) return false;
  const auto outputs = blobs.outputs(op);
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [this](uint32_t blob) {
    return blobs.last_reader(blob) == NetBlobs::kNone;
  });
}

bool NetParts::IsUpdatedWeight(uint32_t blob) const {
  return net.external_output_size() == 0 && read_first[blob] && !node_of_input.contains(blob);
}

}  // namespace caffe2rt
