#pragma once
// The HTML page around an SVG image, with search, zoom and details.

#include <string>

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

// `svg` is the SvgImage of the graph of `nets`.
std::string DrawingPage(const FlowGraph& graph, const std::vector<DrawnNet>& nets,
                        const std::string& title, const std::string& svg);

// The parts of the page that are the same for all nets (page_style.cc, page_script.cc).
extern const char kPageStyle[];
extern const char kPageBody[];
extern const char kPageScript[];

}  // namespace caffe2rt
