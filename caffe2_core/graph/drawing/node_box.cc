#include "caffe2_core/graph/drawing/node_box.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/graph/drawing/markup.h"

namespace caffe2rt {
namespace {

constexpr double kMostText = 300, kTextRight = 12, kLeastWidth = 90, kDetailGap = 8;

// A box that grows.
class Extent {
 public:
  void Add(const NetDrawingLayout::Box& box) {
    AddPoint({box.x, box.y});
    AddPoint({box.x + box.width, box.y + box.height});
  }
  void AddPoint(const NetDrawingLayout::Point& point) {
    left_ = std::min(left_, point.x);
    right_ = std::max(right_, point.x);
    top_ = std::min(top_, point.y);
    bottom_ = std::max(bottom_, point.y);
  }
  bool empty() const { return right_ < left_; }
  NetDrawingLayout::Box Framed() const {
    return {left_ - kFrameMargin, top_ - kFrameTop, right_ - left_ + 2 * kFrameMargin,
            bottom_ - top_ + kFrameTop + kFrameMargin};
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::max();
  double left_ = kFar, top_ = kFar, right_ = -kFar, bottom_ = -kFar;
};

// Whether `group` is `of` or a part of it.
bool IsWithin(const FlowGraph& graph, size_t group, size_t of) {
  while (group != FlowGroup::kNone && group != of) group = graph.groups[group].parent;
  return group == of;
}

// The innermost group that contains both.
size_t CommonGroup(const FlowGraph& graph, size_t a, size_t b) {
  while (a != FlowGroup::kNone && !IsWithin(graph, b, a)) a = graph.groups[a].parent;
  return a;
}

}  // namespace

NodeBox BoxOf(const FlowNode& node) {
  NodeBox box;
  box.title = FittedText(Printable(node.title), kTitlePx, true, kMostText);
  double width = TextWidth(box.title, kTitlePx, true);
  if (!node.detail.empty()) {
    const double room = std::max(kMostText - width - kDetailGap, 60.0);
    box.detail = FittedText(Printable(node.detail), kTextPx, false, room);
    box.detail_x = kTextLeft + width + kDetailGap;
    width += kDetailGap + TextWidth(box.detail, kTextPx, false);
  }
  for (const std::string& line : node.lines) {
    box.lines.push_back(FittedText(Printable(line), kTextPx, false, kMostText));
    width = std::max(width, TextWidth(box.lines.back(), kTextPx, false));
  }
  box.width = std::max(kLeastWidth, std::ceil(kTextLeft + width + kTextRight));
  box.height = kFirstBaseline + static_cast<double>(box.lines.size()) * kLineHeight + 9;
  return box;
}

void PlaceFrames(const FlowGraph& graph, const std::vector<bool>& is_framed,
                 NetDrawingLayout* layout) {
  std::vector<Extent> extents(graph.groups.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    extents[graph.nodes[i].group].Add(layout->nodes[i]);
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const FlowEdge& edge = graph.edges[i];
    const size_t group =
        CommonGroup(graph, graph.nodes[edge.from].group, graph.nodes[edge.to].group);
    if (group == FlowGroup::kNone) continue;
    for (const NetDrawingLayout::Point& point : layout->edges[i]) extents[group].AddPoint(point);
  }
  layout->groups.assign(graph.groups.size(), {});
  for (size_t i = graph.groups.size(); i-- > 0;) {  // a group follows its parent
    if (extents[i].empty()) continue;
    const size_t parent = graph.groups[i].parent;
    const NetDrawingLayout::Box frame = extents[i].Framed();
    if (is_framed[i]) layout->groups[i] = frame;
    if (parent != FlowGroup::kNone) extents[parent].Add(frame);
  }
}

}  // namespace caffe2rt
