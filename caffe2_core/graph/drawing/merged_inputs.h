#pragma once
// Draws many inputs of the same operators as one node.

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

// Joins the input nodes that are the same inputs of the same nodes, if there are more than
// kMostSeparateInputs of them, as the inputs of all steps of a folded recurrent net. The node lists
// their names.
inline constexpr size_t kMostSeparateInputs = 4;
void MergeInputs(FlowGraph* graph);

}  // namespace caffe2rt
