#include "caffe2_core/graph/drawing/layered_layout.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "caffe2_core/graph/drawing/node_box.h"

namespace caffe2rt {
namespace {

constexpr double kGapX = 24, kGapY = 44, kLane = 12, kMargin = 8;
// Between nets, and between the halves of a net: room for two frames.
constexpr double kNetGap = 2 * (kFrameTop + kFrameMargin);

// A row of a net.
struct Row {
  std::vector<size_t> nodes;
  double y = 0, height = 0;
};

class RowLayout {
 public:
  explicit RowLayout(const FlowGraph& graph) : graph_(graph) {
    layout_.nodes.resize(graph.nodes.size());
    row_of_.resize(graph.nodes.size());
    std::map<std::pair<size_t, int>, std::vector<size_t>> rows;  // by net and layer
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      rows[{graph.nodes[i].net, graph.nodes[i].layer}].push_back(i);
    for (auto& [key, nodes] : rows) {
      for (const size_t node : nodes) row_of_[node] = rows_.size();
      rows_.push_back({.nodes = std::move(nodes)});
    }
    PlaceNodes();
    PlaceEdges();
  }

  NetDrawingLayout Take() {
    std::vector<bool> is_framed;
    for (const FlowGroup& group : graph_.groups)
      is_framed.push_back(group.framed && group.repeats == 1);
    PlaceFrames(graph_, is_framed, &layout_);
    MoveToOrigin();
    return std::move(layout_);
  }

 private:
  // Whether the node is in the backward pass, which is drawn on the right.
  bool IsRight(size_t node) const {
    size_t group = graph_.nodes[node].group;
    for (; group != FlowGroup::kNone; group = graph_.groups[group].parent) {
      if (graph_.groups[group].parent != FlowGroup::kNone && graph_.groups[group].repeats == 1)
        return true;
    }
    return false;
  }

  // The width of a half of a row, and the places of its nodes in a row centered at 0.
  double PlaceHalf(const Row& row, bool right) {
    double width = -kGapX;
    for (const size_t node : row.nodes) {
      if (IsRight(node) == right) width += layout_.nodes[node].width + kGapX;
    }
    double x = -width / 2;
    for (const size_t node : row.nodes) {
      if (IsRight(node) != right) continue;
      layout_.nodes[node].x = x;
      x += layout_.nodes[node].width + kGapX;
    }
    return std::max(width, 0.0);
  }

  void PlaceNodes() {
    double y = kMargin, widest_left = 0, widest_right = 0;
    size_t net = 0;
    for (Row& row : rows_) {
      const size_t net_of_row = graph_.nodes[row.nodes[0]].net;
      if (net_of_row != net) y += kNetGap;
      net = net_of_row;
      for (const size_t node : row.nodes) {
        const NodeBox box = BoxOf(graph_.nodes[node]);
        layout_.nodes[node] = {0, y, box.width, box.height};
        row.height = std::max(row.height, box.height);
      }
      row.y = y;
      y += row.height + kGapY;
      widest_left = std::max(widest_left, PlaceHalf(row, false));
      widest_right = std::max(widest_right, PlaceHalf(row, true));
    }
    const double shift = widest_left / 2 + kNetGap + widest_right / 2;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (IsRight(i)) layout_.nodes[i].x += shift;
    }
  }

  // An edge between neighboring rows is a curve; any other edge follows a lane.
  void PlaceEdges() {
    std::vector<std::tuple<size_t, size_t, size_t>> in_lanes;  // first row, last row, edge
    layout_.edges.resize(graph_.edges.size());
    for (size_t i = 0; i < graph_.edges.size(); ++i) {
      const auto [from, to] = std::pair(graph_.edges[i].from, graph_.edges[i].to);
      if (row_of_[to] == row_of_[from] + 1) {
        const auto a = BottomOf(from), b = TopOf(to);
        const double bend = (b.y - a.y) / 2;
        layout_.edges[i] = {a, {a.x, a.y + bend}, {b.x, b.y - bend}, b};
      } else {
        in_lanes.emplace_back(std::min(row_of_[from], row_of_[to]),
                              std::max(row_of_[from], row_of_[to]), i);
      }
    }
    std::sort(in_lanes.begin(), in_lanes.end());
    double right = 0;
    for (const NetDrawingLayout::Box& box : layout_.nodes)
      right = std::max(right, box.x + box.width);
    std::vector<size_t> free_from;  // for each lane, the first row that it may start in
    for (const auto& [first, last, edge] : in_lanes) {
      size_t lane = 0;
      while (lane < free_from.size() && lane < kMostLanes && free_from[lane] > first) ++lane;
      if (lane == free_from.size()) free_from.push_back(0);
      free_from[lane] = last + 1;
      PlaceInLane(edge, right + kGapX + static_cast<double>(lane) * kLane);
    }
  }

  // Down into the gap below the row, right to the lane, along the lane, and back into the gap above
  // the other row. No part of it touches a box.
  void PlaceInLane(size_t index, double lane_x) {
    const FlowEdge& edge = graph_.edges[index];
    const auto a = BottomOf(edge.from), b = TopOf(edge.to);
    const Row &from = rows_[row_of_[edge.from]], &to = rows_[row_of_[edge.to]];
    const double out_y = from.y + from.height + kGapY / 4, in_y = to.y - kGapY / 4;
    auto& points = layout_.edges[index];
    points = {a};
    for (const NetDrawingLayout::Point corner :
         {NetDrawingLayout::Point{a.x, out_y}, {lane_x, out_y}, {lane_x, in_y}, {b.x, in_y}, b}) {
      const NetDrawingLayout::Point last = points.back();
      points.push_back(last);  // a straight line as a curve
      points.push_back(corner);
      points.push_back(corner);
    }
  }

  NetDrawingLayout::Point BottomOf(size_t node) const {
    const NetDrawingLayout::Box& box = layout_.nodes[node];
    return {box.x + box.width / 2, box.y + box.height};
  }
  NetDrawingLayout::Point TopOf(size_t node) const {
    const NetDrawingLayout::Box& box = layout_.nodes[node];
    return {box.x + box.width / 2, box.y};
  }

  // Moves everything so that no coordinate is negative, and sets the size.
  void MoveToOrigin() {
    double left = 0, top = 0, right = 0, bottom = 0;
    const auto add = [&](double x, double y) {
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
    };
    for (const auto* boxes : {&layout_.nodes, &layout_.groups}) {
      for (const NetDrawingLayout::Box& box : *boxes) {
        add(box.x, box.y);
        add(box.x + box.width, box.y + box.height);
      }
    }
    for (const auto& points : layout_.edges) {
      for (const NetDrawingLayout::Point& point : points) add(point.x, point.y);
    }
    for (auto* boxes : {&layout_.nodes, &layout_.groups}) {
      for (NetDrawingLayout::Box& box : *boxes) {
        box.x -= left;
        box.y -= top;
      }
    }
    for (auto& points : layout_.edges) {
      for (NetDrawingLayout::Point& point : points) {
        point.x -= left;
        point.y -= top;
      }
    }
    layout_.width = right - left;
    layout_.height = bottom - top;
  }

  static constexpr size_t kMostLanes = 64;  // further edges share the last lane
  const FlowGraph& graph_;
  std::vector<Row> rows_;
  std::vector<size_t> row_of_;
  NetDrawingLayout layout_;
};

}  // namespace

NetDrawingLayout LayeredLayout(const FlowGraph& graph) { return RowLayout(graph).Take(); }

}  // namespace caffe2rt
