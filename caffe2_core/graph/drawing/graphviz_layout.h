#pragma once
// Layouts by Graphviz: the text for `dot -Tplain`, and the parser of its answer.

#include <string>
#include <string_view>

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

// Boxes of fixed sizes and edges; see NetDrawing::DotRequest.
std::string GraphvizRequest(const FlowGraph& graph);

// THROWS if `plain` is not a complete layout of the graph.
NetDrawingLayout ReadGraphvizLayout(const FlowGraph& graph, std::string_view plain);

// The graph with labels and colors, for people; see NetDrawing::Dot.
std::string GraphAsDot(const FlowGraph& graph, const std::string& name);

}  // namespace caffe2rt
