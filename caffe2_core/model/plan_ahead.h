#pragma once
// Plans the operators of a net before its first run (runtime/plans_ahead.h). Internal to
// preparation.cc.

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/shape_inference.h"

namespace caffe2rt {

class NetMemory;
class NetBase;

// Goes through the net in order. Shapes and layouts come from the operators that plan ahead, and for
// other operators on the CPU from their schemas; an operator with an input of which nothing is known
// is left out, as is one that fails: its first run does the work, and reports the error. The planned
// memory is mapped. If that costs little, the operators that only compute (rehearsal.h) then run once, or a few
// times if it costs next to nothing, on zeros where elements are not known. If these are all operators of the net,
// `run` runs them, as it will run the net. Blobs are left as they were, except that those that nobody reads after a
// run may then hold something, as after a run. `inputs` and `shapes` are those of PreparationOptions.
struct AheadResult {
  // The positions of the operators that were left out and whose first run may prepare weights.
  std::vector<size_t> left_out = {};
  // Whether all operators were run a few times: a run of the net takes at most some milliseconds.
  bool small = false;
};
AheadResult PlanAhead(const NetBase& net, const std::set<std::string>& inputs,
                      const ShapeMap& shapes, const std::function<void()>& run, NetMemory* memory);

}  // namespace caffe2rt
