#pragma once
// The Concats on IDEEP that join floats in blocks of 16 channels among convolutions of bytes, which read NHWC.
//
//   OnednnJoins joins(net, values, precisions, placed);
//   joins.State(op, &def);                      // sets the argument blocked_inputs
//
// In a chain of Concats, as in DenseNet, each joins the result of the one before it with a few channels. In
// NHWC all channels are copied each time; in blocks those of the first input stay where they are, if a memory
// plan places them there (operators/shape/parts_in_place.h). A Concat is blocked if every operator that reads
// its result is a blocked Concat, or writes bytes itself, in NHWC whatever the layout of its input is, and if
// it is next to another blocked Concat.

#include <vector>

#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/onednn_precisions.h"

namespace caffe2rt {

// The argument is declared in operators/common/onednn_argument.h. Immutable after construction.
class OnednnJoins {
 public:
  // `placed`: for each operator, whether it is on IDEEP. REQUIRES: precisions.Choose was called. The net, the
  // values and the precisions are used only here.
  OnednnJoins(const NetDef& net, const NetValues& values, const OnednnPrecisions& precisions,
              const std::vector<bool>& placed);

  void State(size_t op, OperatorDef* def) const;

 private:
  std::vector<int> blocked_inputs_;  // by operator: -1 if it is no blocked Concat
};

}  // namespace caffe2rt
