#pragma once
// The layout without Graphviz: rows from top to bottom.

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

// A node is in a row below everything that it reads. The nets follow each other from top to bottom;
// the backward pass of a net is at the right of its forward pass. An edge that skips rows runs along
// the right side of the nodes between its ends, in a lane of its own. Frames of blocks are omitted,
// because other nodes may lie between those of a block.
NetDrawingLayout LayeredLayout(const FlowGraph& graph);

}  // namespace caffe2rt
