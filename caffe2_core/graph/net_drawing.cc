#include "caffe2_core/graph/net_drawing.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <map>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/net_blobs.h"

namespace caffe2rt {
namespace {

constexpr int kBoxWidth = 220, kBoxHeight = 44, kGapX = 24, kGapY = 36, kMargin = 20;
constexpr size_t kMaxText = 34;  // bytes of text that fit into a box

struct Node {
  std::string title;
  std::string detail;
  bool is_input = false;
  bool is_backward = false;
  int layer = 0;
  int column = 0;
};
struct Edge {
  size_t from, to;
  std::string blob;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

bool StartsBackwardPass(const OperatorDef& op) {
  return op.type() == "ConstantFill" && op.output_size() == 1 &&
         op.output(0).ends_with("_autogen_grad");
}

// The nodes are the operators and the inputs of the net. A blob that no operator wrote gets a node
// when an operator first reads it as input 0. Until then, it is treated as a parameter, and reads
// of it as another input are omitted: drawing the parameters would make the graph unreadable.
//
// The layer of a node is one more than the largest layer that it reads from, and 0 for inputs.
//
// The backward half consists of the gradient operators, the operators that fill the gradients that
// a backward pass starts from, and all operators that read from them.
Graph GraphOf(const NetDef& net, const NetSummary& summary) {
  Graph graph;
  const NetBlobs blobs(net);
  std::map<uint32_t, size_t> node_of_op, node_of_input;  // by position, and by blob
  for (size_t i = 0; i < summary.ops.size(); ++i) {
    const OpSummary& op = summary.ops[i];
    Node node{.title = op.type, .detail = op.outputs.empty() ? "" : ShapeText(op.outputs[0])};
    const OperatorDef& def = net.op(static_cast<int>(i));
    node.is_backward = def.is_gradient_op() || StartsBackwardPass(def);
    std::vector<Edge> incoming;
    for (size_t k = 0; k < op.input_names.size(); ++k) {
      const std::string& name = op.input_names[k];
      const uint32_t writer = blobs.input_writers(i)[k];
      const bool made = writer != NetBlobs::kNone;
      std::map<uint32_t, size_t>& nodes = made ? node_of_op : node_of_input;
      const uint32_t key = made ? writer : blobs.inputs(i)[k];
      auto from = nodes.find(key);
      if (from == nodes.end()) {
        if (k > 0) continue;
        graph.nodes.push_back({.title = name, .detail = ShapeText(op.inputs[k]), .is_input = true});
        from = nodes.emplace(key, graph.nodes.size() - 1).first;
      }
      const Node& source = graph.nodes[from->second];
      node.layer = std::max(node.layer, source.layer + 1);
      node.is_backward = node.is_backward || source.is_backward;
      incoming.push_back({from->second, 0, name});
    }
    if (!op.output_names.empty()) node.title += "  " + op.output_names[0];
    graph.nodes.push_back(std::move(node));
    const size_t self = graph.nodes.size() - 1;
    for (Edge& edge : incoming) {
      edge.to = self;
      graph.edges.push_back(std::move(edge));
    }
    node_of_op[static_cast<uint32_t>(i)] = self;
  }
  return graph;
}

// Replaces control characters (C0, DEL, C1) and bytes that are not UTF-8 by '?', because names may
// contain any bytes.
std::string Printable(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t size = Utf8CharacterSize(text, i);
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool c1 =
        size == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;  // U+0080-U+009F
    if (size == 0 || c < 0x20 || c == 0x7f || c1) {
      out += '?';
    } else {
      out.append(text, i, size);
    }
    i += std::max<size_t>(size, 1);
  }
  return out;
}

std::string EscapeDot(const std::string& text) {
  return absl::StrReplaceAll(Printable(text), {{"\"", "\\\""}, {"\\", "\\\\"}});
}

std::string EscapeXml(const std::string& text) {
  return absl::StrReplaceAll(Printable(text),
                             {{"<", "&lt;"}, {">", "&gt;"}, {"&", "&amp;"}, {"\"", "&quot;"}});
}

int XOf(const Node& node) { return kMargin + node.column * (kBoxWidth + kGapX); }
int YOf(const Node& node) { return kMargin + node.layer * (kBoxHeight + kGapY); }

void DrawEdge(const Graph& graph, const Edge& edge, std::string* out) {
  const Node &from = graph.nodes[edge.from], &to = graph.nodes[edge.to];
  const int x1 = XOf(from) + kBoxWidth / 2, y1 = YOf(from) + kBoxHeight;
  const int x2 = XOf(to) + kBoxWidth / 2, y2 = YOf(to);
  // An edge that spans several layers bends around the boxes between them.
  const int bend = to.layer - from.layer > 1 ? kBoxWidth / 2 + kGapX / 2 : 0;
  absl::StrAppend(out, "<path d=\"M", x1, " ", y1, " C", x1 + bend, " ", y1 + kGapY, " ", x2 + bend,
                  " ", y2 - kGapY, " ", x2, " ", y2, "\"><title>", EscapeXml(edge.blob),
                  "</title></path>\n");
}

const char* ClassOf(const Node& node) {
  if (node.is_input) return "input";
  return node.is_backward ? "op backward" : "op";
}

void DrawNode(const Node& node, std::string* out) {
  const int x = XOf(node), y = YOf(node), middle = x + kBoxWidth / 2;
  absl::StrAppend(out, "<g><title>", EscapeXml(node.title + " " + node.detail),
                  "</title><rect x=\"", x, "\" y=\"", y, "\" width=\"", kBoxWidth, "\" height=\"",
                  kBoxHeight, "\" rx=\"", node.is_input ? 20 : 4, "\" class=\"", ClassOf(node),
                  "\"/><text x=\"", middle, "\" y=\"", y + 18, "\">",
                  EscapeXml(Shortened(node.title, kMaxText)), "</text><text x=\"", middle,
                  "\" y=\"", y + 35, "\" class=\"shape\">",
                  EscapeXml(Shortened(node.detail, kMaxText)), "</text></g>\n");
}

// Assigns the columns, forward half on the left, backward half on the right, with one empty column
// between them. Returns the number of columns.
int PlaceColumns(Graph* graph) {
  int first = 0;
  for (const bool backward : {false, true}) {
    std::map<int, int> columns;  // the next free column of each layer
    int end = first;
    for (Node& node : graph->nodes) {
      if (node.is_backward != backward) continue;
      const auto [next, added] = columns.emplace(node.layer, first);
      node.column = next->second++;
      end = std::max(end, next->second);
    }
    const bool empty = end == first;
    if (empty && backward) return std::max(first - 1, 1);
    first = empty ? first : end + 1;
  }
  return first - 1;
}

void DotNode(const Graph& graph, size_t i, std::string* out) {
  const Node& node = graph.nodes[i];
  absl::StrAppend(out, "  n", i, " [label=\"", EscapeDot(node.title), "\\n", EscapeDot(node.detail),
                  "\"", node.is_input ? ", shape=ellipse" : "", "];\n");
}

}  // namespace

std::string NetAsDot(const NetDef& net, const NetSummary& summary) {
  const Graph graph = GraphOf(net, summary);
  std::string out = absl::StrCat("digraph \"", EscapeDot(net.name()),
                                 "\" {\n  node [shape=box, fontname=\"sans-serif\"];\n");
  std::vector<size_t> backward;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].is_backward) {
      backward.push_back(i);
    } else {
      DotNode(graph, i, &out);
    }
  }
  if (!backward.empty()) {
    absl::StrAppend(&out, "  subgraph cluster_backward {\n  label=\"backward pass\";\n");
    for (const size_t i : backward) DotNode(graph, i, &out);
    absl::StrAppend(&out, "  }\n");
  }
  for (const Edge& edge : graph.edges) {
    absl::StrAppend(&out, "  n", edge.from, " -> n", edge.to, " [label=\"", EscapeDot(edge.blob),
                    "\"];\n");
  }
  return out + "}\n";
}

std::string NetAsSvg(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options) {
  CAFFE_ENFORCE_LE(static_cast<int64_t>(summary.ops.size()), options.max_svg_ops,
                   "operators of net \"", net.name(), "\" to draw as SVG");
  Graph graph = GraphOf(net, summary);
  const int widest = PlaceColumns(&graph);
  int layers = 0;
  for (const Node& node : graph.nodes) layers = std::max(layers, node.layer + 1);
  const int width = 2 * kMargin + widest * (kBoxWidth + kGapX),
            height = 2 * kMargin + layers * (kBoxHeight + kGapY);
  std::string out = absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
      "\" viewBox=\"0 0 ", width, " ", height, "\">\n<title>", EscapeXml(net.name()), "</title>\n",
      "<style>text{font:12px sans-serif;text-anchor:middle}.shape{fill:#555;font-size:11px}"
      ".op{fill:#e8f0fe;stroke:#4a6fa5}.input{fill:#fff4d6;stroke:#b08900}"
      ".backward{fill:#fde8e8;stroke:#a54a4a}"
      "path{fill:none;stroke:#777}</style>\n");
  for (const Edge& edge : graph.edges) DrawEdge(graph, edge, &out);
  for (const Node& node : graph.nodes) DrawNode(node, &out);
  return out + "</svg>\n";
}

}  // namespace caffe2rt
