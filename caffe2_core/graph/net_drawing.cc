#include "caffe2_core/graph/net_drawing.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/drawing/flow_graph.h"
#include "caffe2_core/graph/drawing/graphviz_layout.h"
#include "caffe2_core/graph/drawing/layered_layout.h"
#include "caffe2_core/graph/drawing/node_text.h"
#include "caffe2_core/graph/drawing/page.h"
#include "caffe2_core/graph/drawing/svg_image.h"

namespace caffe2rt {
namespace {

std::string InMillions(int64_t value, const std::string& noun) {
  if (value < 10000) return CountText(value, noun);
  return absl::StrCat(FixedText(static_cast<double>(value) / 1e6, value < 1000000 ? 3 : 1),
                      " million ", noun, "s");
}

// "66 operators, 1.2 million parameters".
std::string SubtitleOf(const std::vector<DrawnNet>& nets) {
  size_t operators = 0;
  int64_t parameters = 0, multiply_adds = 0;
  for (const DrawnNet& net : nets) {
    operators += net.summary->ops.size();
    parameters = std::max(parameters, net.summary->parameters);
    multiply_adds = std::max(multiply_adds, net.summary->multiply_adds);
  }
  std::string text = nets.size() > 1 ? CountText(nets.size(), "net") + ", " : "";
  text += CountText(operators, "operator");
  if (nets.size() == 1 && parameters > 0) text += ", " + InMillions(parameters, "parameter");
  if (nets.size() == 1 && multiply_adds > 0)
    text += ", " + InMillions(multiply_adds, "multiply-add");
  return text;
}

std::vector<DrawnNet> Checked(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options) {
  CAFFE_ENFORCE(!nets.empty(), "a drawing has no net");
  int64_t operators = 0;
  for (const DrawnNet& net : nets) {
    CAFFE_ENFORCE(net.net != nullptr && net.summary != nullptr,
                  "a net to draw, or its summary, is null");
    CAFFE_ENFORCE_EQ(static_cast<int64_t>(net.summary->ops.size()), net.net->op_size(),
                     "operators in the summary of net \"", net.net->name(), "\"");
    operators += net.net->op_size();
  }
  CAFFE_ENFORCE_LE(operators, options.max_svg_ops, "operators of net \"", nets[0].net->name(),
                   "\" to draw");
  return nets;
}

}  // namespace

struct NetDrawing::Content {
  std::vector<DrawnNet> nets;
  std::string title;
  FlowGraph graph;
};

NetDrawing::NetDrawing(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options) try
    : content_(std::make_unique<const Content>(
          Content{Checked(nets, options),
                  !options.title.empty() || nets.empty() ? options.title : nets[0].title,
                  MakeFlowGraph(nets, options)})) {
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
NetDrawing::~NetDrawing() = default;

std::string NetDrawing::Dot() const try {
  return GraphAsDot(content_->graph, content_->title);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
std::string NetDrawing::DotRequest() const try {
  return GraphvizRequest(content_->graph);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
NetDrawingLayout NetDrawing::ReadDotLayout(std::string_view plain) const try {
  return ReadGraphvizLayout(content_->graph, plain);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
NetDrawingLayout NetDrawing::PlainLayout() const try {
  return LayeredLayout(content_->graph);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string NetDrawing::Svg(const NetDrawingLayout& layout) const try {
  const FlowGraph& graph = content_->graph;
  CAFFE_ENFORCE(layout.nodes.size() == graph.nodes.size() &&
                    layout.edges.size() == graph.edges.size() &&
                    layout.groups.size() == graph.groups.size(),
                "the layout belongs to another drawing");
  return SvgImage(graph, layout, content_->title, SubtitleOf(content_->nets));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string NetDrawing::Html(const NetDrawingLayout& layout) const try {
  return DrawingPage(content_->graph, content_->nets, content_->title, Svg(layout));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string NetAsDot(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options) try {
  return NetDrawing({{&net, &summary, net.name()}}, options).Dot();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string NetAsSvg(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options) try {
  const NetDrawing drawing({{&net, &summary, net.name()}}, options);
  return drawing.Svg(drawing.PlainLayout());
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
