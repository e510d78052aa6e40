#include "caffe2_core/graph/passes/merging.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/user_operators.h"

namespace caffe2rt {

bool MayMerge(const NetValues& values, const NetEdits& edits, size_t first, size_t second) {
  if (first >= second || edits.is_changed(first) || edits.is_changed(second)) return false;
  if (!values.is_plain(first) || !values.is_plain(second)) return false;
  if (values.num_outputs(first) != 1 || values.num_outputs(second) != 1) return false;
  return values.SoleReader(values.output(first, 0)) == second &&
         values.InputsLastUntil(first, second) &&
         IsSameDevice(edits.op(first).device_option(), edits.op(second).device_option());
}

void Merge(size_t first, size_t second, OperatorDef merged, NetEdits* edits) {
  merged.set_output(0, edits->op(second).output(0));
  AddUserOperators(edits->op(first), &merged);
  AddUserOperators(edits->op(second), &merged);
  edits->Remove(first);
  edits->Put(second, std::move(merged));
}

bool SharesMemory(const NetValues& values, size_t op, size_t of) {
  const NetDependencies& blobs = values.blobs();
  const uint32_t memory = blobs.memory(blobs.outputs(op)[0]);
  const auto inputs = blobs.inputs(of);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](uint32_t blob) { return blobs.memory(blob) == memory; });
}

}  // namespace caffe2rt
