#pragma once
// The merging of an operator with the operator that reads its result, for passes.

#include <cstddef>

#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Whether operator `first` may run in the place of `second`, which reads its result: nothing else
// sees the result, neither has been changed, both run on the same device, and the inputs of `first`
// still have their values then.
bool MayMerge(const NetValues& values, const NetEdits& edits, size_t first, size_t second);

// Puts `merged` in the place of `second`, with its output 0 and the user's operators of both, and
// removes `first`.
void Merge(size_t first, size_t second, OperatorDef merged, NetEdits* edits);

// Whether output 0 of operator `op` is in the memory of one of the inputs of operator `of`.
bool SharesMemory(const NetValues& values, size_t op, size_t of);

}  // namespace caffe2rt
