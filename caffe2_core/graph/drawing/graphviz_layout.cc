#include "caffe2_core/graph/drawing/graphviz_layout.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/node_box.h"

namespace caffe2rt {
namespace {

constexpr double kPxPerInch = 72;
constexpr double kMostPx = 1e7;
constexpr size_t kMostPoints = 10000;  // of an edge

// Writes the groups as nested clusters. `write_node` writes one node, `attributes` the first line of
// a cluster.
void WriteClusters(const FlowGraph& graph, const std::function<void(size_t)>& write_node,
                   const std::function<std::string(size_t)>& attributes, std::string* out) {
  const size_t count = graph.groups.size();
  std::vector<std::vector<size_t>> nodes(count), children(count);
  for (size_t i = 0; i < graph.nodes.size(); ++i) nodes[graph.nodes[i].group].push_back(i);
  std::vector<size_t> open;  // groups to write, the next one last
  for (size_t i = count; i-- > 0;) {
    if (graph.groups[i].parent == FlowGroup::kNone) {
      open.push_back(i);
    } else {
      children[graph.groups[i].parent].push_back(i);  // in descending order
    }
  }
  constexpr size_t kClose = FlowGroup::kNone;
  while (!open.empty()) {
    const size_t group = open.back();
    open.pop_back();
    if (group == kClose) {
      absl::StrAppend(out, "}\n");
      continue;
    }
    if (graph.groups[group].framed) {
      absl::StrAppend(out, "subgraph cluster_", group, " {\n", attributes(group), "\n");
      open.push_back(kClose);
    }
    open.insert(open.end(), children[group].begin(), children[group].end());
    for (const size_t node : nodes[group]) write_node(node);
  }
}

// Keeps the nets of a plan in order, from top to bottom: invisible edges lead from the last nodes of
// each net to an invisible node, and from there to the first nodes of the next net.
void WriteNetOrder(const FlowGraph& graph, std::string* out) {
  std::vector<bool> is_first(graph.nodes.size(), true), is_last(graph.nodes.size(), true);
  for (const FlowEdge& edge : graph.edges) {
    if (edge.kind == FlowEdge::Kind::kCarried) continue;
    if (graph.nodes[edge.from].net != graph.nodes[edge.to].net) continue;
    is_last[edge.from] = false;
    is_first[edge.to] = false;
  }
  for (size_t net = 0; net + 1 < graph.net_groups.size(); ++net) {
    absl::StrAppend(out, "o", net, " [style=invis, width=0.1, height=0.1];\n");
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const size_t net = graph.nodes[i].net;
    if (is_last[i] && net + 1 < graph.net_groups.size())
      absl::StrAppend(out, "n", i, " -> o", net, " [style=invis];\n");
    if (is_first[i] && net > 0) absl::StrAppend(out, "o", net - 1, " -> n", i, " [style=invis];\n");
  }
  for (size_t net = 0; net + 2 < graph.net_groups.size(); ++net) {
    absl::StrAppend(out, "o", net, " -> o", net + 1, " [style=invis];\n");
  }
}

double Inches(const std::string& word) {
  double number = 0;
  CAFFE_ENFORCE(ParseNumber(word, &number) && std::abs(number) * kPxPerInch < kMostPx,
                "layout has \"", word, "\", want a number of inches");
  return number * kPxPerInch;
}

// Index `word` after its first character, below `size`.
size_t IndexIn(const std::string& word, size_t size) {
  size_t index = 0;
  CAFFE_ENFORCE(word.size() > 1 && ParseNumber(word.substr(1), &index) && index < size,
                "layout has \"", word, "\", want the name of a node");
  return index;
}

class PlainParser {
 public:
  explicit PlainParser(const FlowGraph& graph) : graph_(graph) {
    layout_.nodes.resize(graph.nodes.size());
    layout_.edges.resize(graph.edges.size());
    for (size_t i = 0; i < graph.edges.size(); ++i)
      edges_[{graph.edges[i].from, graph.edges[i].to}].push_back(i);
  }

  NetDrawingLayout Parse(std::string_view plain) {
    bool complete = false;
    for (const auto line : absl::StrSplit(absl::string_view(plain.data(), plain.size()), '\n')) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.empty()) continue;
      complete = words[0] == "stop";
      if (words[0] == "graph") ReadSize(words);
      if (words[0] == "node" && words.size() > 1 && words[1].starts_with("n")) ReadNode(words);
      if (words[0] == "edge" && words.size() > 3 && words[1].starts_with("n") &&
          words[2].starts_with("n"))
        ReadEdge(words);
    }
    CAFFE_ENFORCE(complete, "layout has no line \"stop\" at its end");
    for (const NetDrawingLayout::Box& box : layout_.nodes)
      CAFFE_ENFORCE(box.width > 0, "layout lacks a node");
    for (const auto& points : layout_.edges) CAFFE_ENFORCE(!points.empty(), "layout lacks an edge");
    return std::move(layout_);
  }

 private:
  void ReadSize(const std::vector<std::string>& words) {
    CAFFE_ENFORCE_GE(words.size(), 4u, "words of the layout's line \"graph\"");
    layout_.width = Inches(words[2]);
    layout_.height = Inches(words[3]);
  }

  NetDrawingLayout::Point PointAt(const std::vector<std::string>& words, size_t i) const {
    return {Inches(words[i]), layout_.height - Inches(words[i + 1])};
  }

  void ReadNode(const std::vector<std::string>& words) {
    CAFFE_ENFORCE_GE(words.size(), 6u, "words of a line \"node\" of the layout");
    const size_t node = IndexIn(words[1], graph_.nodes.size());
    const NodeBox box = BoxOf(graph_.nodes[node]);
    const NetDrawingLayout::Point middle = PointAt(words, 2);
    layout_.nodes[node] = {middle.x - box.width / 2, middle.y - box.height / 2, box.width,
                           box.height};
  }

  void ReadEdge(const std::vector<std::string>& words) {
    const size_t from = IndexIn(words[1], graph_.nodes.size());
    const size_t to = IndexIn(words[2], graph_.nodes.size());
    size_t points = 0;
    CAFFE_ENFORCE(ParseNumber(words[3], &points) && points >= 4 && points % 3 == 1 &&
                      points <= kMostPoints && words.size() >= 4 + 2 * points,
                  "layout has an edge of \"", words[3], "\" points, want 4, 7, 10, ...");
    for (const size_t edge : edges_[{from, to}]) {
      if (!layout_.edges[edge].empty()) continue;
      for (size_t i = 0; i < points; ++i) layout_.edges[edge].push_back(PointAt(words, 4 + 2 * i));
      return;
    }
    CAFFE_THROW("layout has an edge too many");
  }

  const FlowGraph& graph_;
  std::map<std::pair<size_t, size_t>, std::vector<size_t>> edges_;
  NetDrawingLayout layout_;
};

// Exchanges left and right.
void Mirror(NetDrawingLayout* layout) {
  for (NetDrawingLayout::Box& box : layout->nodes) box.x = layout->width - box.x - box.width;
  for (auto& points : layout->edges) {
    for (NetDrawingLayout::Point& point : points) point.x = layout->width - point.x;
  }
}

}  // namespace

std::string GraphvizRequest(const FlowGraph& graph) {
  std::string out =
      "digraph {\n"
      "graph [nodesep=0.35, ranksep=0.42];\n"
      "node [shape=box, fixedsize=true, label=\"\"];\n"
      "edge [dir=none];\n";
  const auto write_node = [&](size_t i) {
    const NodeBox box = BoxOf(graph.nodes[i]);
    absl::StrAppend(&out, "n", i, " [width=", box.width / kPxPerInch,
                    ", height=", box.height / kPxPerInch, "];\n");
  };
  const auto attributes = [](size_t) { return absl::StrCat("margin=", kFrameTop, ";"); };
  WriteClusters(graph, write_node, attributes, &out);
  for (const FlowEdge& edge : graph.edges) {
    const bool carried = edge.kind == FlowEdge::Kind::kCarried;
    // Edges that skip nodes bend, so that the others stay straight.
    const int weight = IsSkip(graph, edge) ? 1 : 4;
    absl::StrAppend(&out, "n", edge.from, " -> n", edge.to, " [weight=", weight,
                    carried ? ", constraint=false" : "", "];\n");
  }
  if (graph.net_groups.size() > 1) WriteNetOrder(graph, &out);
  return out + "}\n";
}

NetDrawingLayout ReadGraphvizLayout(const FlowGraph& graph, std::string_view plain) {
  NetDrawingLayout layout = PlainParser(graph).Parse(plain);
  // A drawing is read from the upper left corner, so the first node should be near it.
  if (!layout.nodes.empty() && layout.nodes[0].x > layout.width / 2) Mirror(&layout);
  std::vector<bool> is_framed;
  for (const FlowGroup& group : graph.groups) is_framed.push_back(group.framed);
  PlaceFrames(graph, is_framed, &layout);
  return layout;
}

std::string GraphAsDot(const FlowGraph& graph, const std::string& name) {
  std::string out =
      absl::StrCat("digraph \"", EscapeDot(name),
                   "\" {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
  const auto write_node = [&](size_t i) {
    const FlowNode& node = graph.nodes[i];
    absl::StrAppend(&out, "  n", i, " [label=\"", EscapeDot(node.title),
                    node.detail.empty() ? "" : "  ", EscapeDot(node.detail));
    for (const std::string& line : node.lines) absl::StrAppend(&out, "\\n", EscapeDot(line));
    const bool is_operator = node.kind == FlowNode::Kind::kOperator;
    absl::StrAppend(&out, "\", ",
                    is_operator ? absl::StrCat("fillcolor=\"", FamilyFill(node.family), "\"")
                                : "shape=ellipse, fillcolor=white",
                    "];\n");
  };
  const auto attributes = [&](size_t group) {
    return absl::StrCat("  label=\"", EscapeDot(graph.groups[group].title), "\";");
  };
  WriteClusters(graph, write_node, attributes, &out);
  for (const FlowEdge& edge : graph.edges) {
    const bool carried = edge.kind == FlowEdge::Kind::kCarried;
    absl::StrAppend(&out, "  n", edge.from, " -> n", edge.to, " [label=\"",
                    EscapeDot(BlobNames(edge)), "\"",
                    carried ? ", style=dashed, constraint=false" : "",
                    edge.kind == FlowEdge::Kind::kControl ? ", style=dotted" : "", "];\n");
  }
  return out + "}\n";
}

}  // namespace caffe2rt
