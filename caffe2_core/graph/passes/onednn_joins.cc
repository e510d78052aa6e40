#include "caffe2_core/graph/passes/onednn_joins.h"

#include <algorithm>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

constexpr char kBlockedInputs[] = "blocked_inputs";

// Whether the operator joins images and can be asked to do so in blocks.
bool IsJoin(const OperatorDef& def) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  return schema != nullptr &&
         std::any_of(schema->args().begin(), schema->args().end(),
                     [](const auto& arg) { return arg.name == kBlockedInputs; });
}

}  // namespace

OnednnJoins::OnednnJoins(const NetDef& net, const NetValues& values,
                         const OnednnPrecisions& precisions, const std::vector<bool>& placed)
    : blocked_inputs_(values.num_operators(), -1) {
  std::vector<bool> may(values.num_operators());
  for (size_t op = values.num_operators(); op-- > 0;) {
    if (!placed[op] || !IsJoin(net.op(static_cast<int>(op)))) continue;
    may[op] = precisions.IsFloat(values.output(op, 0)) && [&] {
      const auto readers = values.readers(values.output(op, 0));
      return !readers.empty() && !precisions.IsOnCpu(values.output(op, 0)) &&
             std::all_of(readers.begin(), readers.end(), [&](const NetValues::Read& read) {
               return may[read.op] || precisions.ReadsAnyLayout(read.op);
             });
    }();
  }
  const auto is_blocked = [&](NetValues::Value value) {
    return values.writer(value) != NetValues::kNone && may[values.writer(value)];
  };
  for (size_t op = 0; op < values.num_operators(); ++op) {
    if (!may[op]) continue;
    size_t first = 0;
    while (first < values.num_inputs(op) && is_blocked(values.input(op, first))) ++first;
    const auto readers = values.readers(values.output(op, 0));
    const bool begins = std::any_of(readers.begin(), readers.end(), [&](const auto& read) {
      return may[read.op] && read.input == 0;
    });
    if (first > 0 || begins) blocked_inputs_[op] = static_cast<int>(first);
  }
}

// What a file says does not hold for this placement.
void OnednnJoins::State(size_t op, OperatorDef* def) const {
  if (!IsJoin(*def)) return;
  const int blocked = blocked_inputs_[op];
  if (blocked < 0 && GetArgumentPtr(*def, kBlockedInputs) == nullptr) return;
  *GetMutableArgument(kBlockedInputs, true, def) = MakeArgument(kBlockedInputs, blocked);
}

}  // namespace caffe2rt
