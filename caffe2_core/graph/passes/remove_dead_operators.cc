#include "caffe2_core/graph/passes/remove_dead_operators.h"

#include <vector>

#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_values.h"

namespace caffe2rt {

NetDef RemoveDeadOperators(NetDef net, PassContext& context) {
  NetEdits edits(&net);
  const NetValues values(net, context);
  std::vector<size_t> reads(values.num_values());  // by operators that stay
  for (size_t v = 0; v < reads.size(); ++v) {
    reads[v] = values.readers(static_cast<NetValues::Value>(v)).size();
  }
  // Readers come after the operators that they read from.
  for (size_t op = values.num_operators(); op-- > 0;) {
    bool dead = values.is_plain(op) && values.num_outputs(op) > 0;
    for (size_t i = 0; i < values.num_outputs(op) && dead; ++i) {
      const NetValues::Value value = values.output(op, i);
      dead = reads[value] == 0 && !values.is_observable(value);
    }
    if (!dead) continue;
    edits.Remove(op);
    for (size_t i = 0; i < values.num_inputs(op); ++i) --reads[values.input(op, i)];
  }
  edits.Apply();
  return net;
}

}  // namespace caffe2rt
