#pragma once
// The size of a node, and its text, shortened to fit.

#include <string>
#include <vector>

#include "caffe2_core/graph/drawing/flow_graph.h"

namespace caffe2rt {

inline constexpr double kTitlePx = 13, kTextPx = 11;  // font sizes
inline constexpr double kLineHeight = 15;
inline constexpr double kFirstBaseline = 18;
inline constexpr double kTextLeft = 14;     // from the left side of the box to its text
inline constexpr double kMostTextPx = 300;  // the width of a line of text in a box
inline constexpr double kFrameMargin = 14, kFrameTop = 24;  // of a frame around its nodes

struct NodeBox {
  std::string title, detail;
  std::vector<std::string> lines;
  double detail_x = 0;  // from the left side of the box to the detail
  double width = 0, height = 0;
};

NodeBox BoxOf(const FlowNode& node);

// The boxes of all groups around their nodes, and around their inner edges unless such a box would
// overlap nodes or frames of others. `layout` has its nodes and edges. Groups without nodes, and those that `is_framed` excludes, get a box of width 0.
void PlaceFrames(const FlowGraph& graph, const std::vector<bool>& is_framed,
                 NetDrawingLayout* layout);

}  // namespace caffe2rt
