#pragma once
// Draws a graph with a layout as SVG.

#include <string>

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

// The image. `subtitle` stands below the title. Nodes are <g class="node ..." id="n5"> and edges
// <g class="edge ..." id="e7">, numbered as in the graph; a page uses these names.
std::string SvgImage(const FlowGraph& graph, const NetDrawingLayout& layout,
                     const std::string& title, const std::string& subtitle);

// The style sheet of the image, for a page that overrides parts of it.
std::string SvgStyle();

}  // namespace caffe2rt
