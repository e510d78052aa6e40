#include "caffe2_core/graph/drawing/node_box.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "caffe2_core/graph/drawing/markup.h"

namespace caffe2rt {
namespace {

constexpr double kTextRight = 12, kLeastWidth = 90, kDetailGap = 8;

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
  void Add(const Extent& other) {
    if (other.empty()) return;
    AddPoint({other.left_, other.top_});
    AddPoint({other.right_, other.bottom_});
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

bool Overlap(const NetDrawingLayout::Box& a, const NetDrawingLayout::Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

// The control points of a Bezier curve may be far from it, so that this adds points of the curve.
void AddCurve(const std::vector<NetDrawingLayout::Point>& points, Extent* extent) {
  constexpr int kSteps = 8;
  for (size_t i = 0; i + 3 < points.size(); i += 3) {
    for (int step = 0; step <= kSteps; ++step) {
      const double t = static_cast<double>(step) / kSteps, u = 1 - t;
      const double a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
      extent->AddPoint(
          {a * points[i].x + b * points[i + 1].x + c * points[i + 2].x + d * points[i + 3].x,
           a * points[i].y + b * points[i + 1].y + c * points[i + 2].y + d * points[i + 3].y});
    }
  }
}

// Finds nodes and frames outside of a group that a frame around the group would overlap.
class Surroundings {
 public:
  Surroundings(const FlowGraph& graph, const NetDrawingLayout& layout)
      : graph_(graph), layout_(layout), by_y_(layout.nodes.size()) {
    std::iota(by_y_.begin(), by_y_.end(), size_t{0});
    std::sort(by_y_.begin(), by_y_.end(),
              [&](size_t a, size_t b) { return layout.nodes[a].y < layout.nodes[b].y; });
    for (const NetDrawingLayout::Box& box : layout.nodes) highest_ = std::max(highest_, box.height);
  }

  bool Overlaps(const NetDrawingLayout::Box& frame, size_t group) const {
    auto it = std::lower_bound(by_y_.begin(), by_y_.end(), frame.y - highest_,
                               [&](size_t node, double y) { return layout_.nodes[node].y < y; });
    for (; it != by_y_.end() && layout_.nodes[*it].y < frame.y + frame.height; ++it) {
      if (Overlap(layout_.nodes[*it], frame) && !IsWithin(graph_, graph_.nodes[*it].group, group))
        return true;
    }
    for (size_t i = 0; i < layout_.groups.size(); ++i) {
      const NetDrawingLayout::Box& other = layout_.groups[i];
      if (other.width > 0 && Overlap(other, frame) && !IsWithin(graph_, i, group)) return true;
    }
    return false;
  }

 private:
  const FlowGraph& graph_;
  const NetDrawingLayout& layout_;
  std::vector<size_t> by_y_;
  double highest_ = 0;
};

}  // namespace

NodeBox BoxOf(const FlowNode& node) {
  NodeBox box;
  box.title = FittedText(Printable(node.title), kTitlePx, true, kMostTextPx);
  double width = TextWidth(box.title, kTitlePx, true);
  if (!node.detail.empty()) {
    const double room = std::max(kMostTextPx - width - kDetailGap, 60.0);
    box.detail = FittedText(Printable(node.detail), kTextPx, false, room);
    box.detail_x = kTextLeft + width + kDetailGap;
    width += kDetailGap + TextWidth(box.detail, kTextPx, false);
  }
  for (const std::string& line : node.lines) {
    box.lines.push_back(FittedText(Printable(line), kTextPx, false, kMostTextPx));
    width = std::max(width, TextWidth(box.lines.back(), kTextPx, false));
  }
  box.width = std::max(kLeastWidth, std::ceil(kTextLeft + width + kTextRight));
  box.height = kFirstBaseline + static_cast<double>(box.lines.size()) * kLineHeight + 9;
  return box;
}

void PlaceFrames(const FlowGraph& graph, const std::vector<bool>& is_framed,
                 NetDrawingLayout* layout) {
  std::vector<Extent> nodes(graph.groups.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) nodes[graph.nodes[i].group].Add(layout->nodes[i]);
  std::vector<Extent> edges(graph.groups.size());
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const FlowEdge& edge = graph.edges[i];
    const size_t group =
        CommonGroup(graph, graph.nodes[edge.from].group, graph.nodes[edge.to].group);
    if (group != FlowGroup::kNone) AddCurve(layout->edges[i], &edges[group]);
  }
  layout->groups.assign(graph.groups.size(), {});
  const Surroundings surroundings(graph, *layout);
  for (size_t i = graph.groups.size(); i-- > 0;) {  // a group follows its parent
    if (nodes[i].empty()) continue;
    Extent with_edges = nodes[i];
    with_edges.Add(edges[i]);
    NetDrawingLayout::Box frame = with_edges.Framed();
    // Graphviz keeps other nodes out of the box around the nodes, but its edges may leave this box.
    if (surroundings.Overlaps(frame, i)) frame = nodes[i].Framed();
    if (is_framed[i]) layout->groups[i] = frame;
    const size_t parent = graph.groups[i].parent;
    if (parent != FlowGroup::kNone) nodes[parent].Add(frame);
  }
}

}  // namespace caffe2rt
