#include "caffe2_core/graph/passes/reshape_in_place.h"

#include <algorithm>
#include <string>
#include <utility>

#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"

namespace caffe2rt {
namespace {

class Reshaper {
 public:
  Reshaper(NetDef* net, const PassContext& context) : values_(*net, context), edits_(net) {}

  void Run() {
    for (size_t op = 0; op < values_.num_operators(); ++op) {
      if (TraitsOf(edits_.op(op).type()).only_changes_shape && values_.is_plain(op)) TryInPlace(op);
    }
    edits_.Apply();
  }

 private:
  void TryInPlace(size_t op) {
    const NetValues::Value value = values_.input(op, 0);
    const uint32_t writer = values_.writer(value);
    if (values_.SoleReader(value) != op || writer == NetValues::kNone) return;
    // An operator that was changed already writes another blob than the analysis found.
    if (!values_.is_plain(writer) || edits_.is_changed(writer)) return;
    const NetDependencies& blobs = values_.blobs();
    const uint32_t result = blobs.outputs(op)[0];
    if (UsesMemory(writer, result) || values_.IsUsedBetween(result, writer, op)) return;
    if (std::count_if(blobs.all(op).begin(), blobs.all(op).end(), [&](uint32_t blob) {
          return blobs.memory(blob) == blobs.memory(result);
        }) != 1) {
      return;  // in place already, or the result is also the shape
    }
    OperatorDef before = edits_.op(writer), reshape = edits_.op(op);
    for (size_t i = 0; i < values_.num_outputs(writer); ++i) {
      if (values_.output(writer, i) != value) continue;
      before.set_output(static_cast<int>(i), blobs.name(result));
    }
    reshape.set_input(0, blobs.name(result));
    if (!Conforms(before) || !Conforms(reshape)) return;
    edits_.Put(writer, std::move(before));
    edits_.Put(op, std::move(reshape));
  }

  bool UsesMemory(size_t op, uint32_t blob) const {
    const NetDependencies& blobs = values_.blobs();
    const auto all = blobs.all(op);
    return std::any_of(all.begin(), all.end(),
                       [&](uint32_t other) { return blobs.memory(other) == blobs.memory(blob); });
  }

  static bool Conforms(const OperatorDef& op) {
    return OpSchemaRegistry::Schema(op.type())->Verify(op);
  }

  const NetValues values_;
  NetEdits edits_;
};

}  // namespace

NetDef ReshapeInPlace(NetDef net, PassContext& context) {
  Reshaper(&net, context).Run();
  return net;
}

}  // namespace caffe2rt
