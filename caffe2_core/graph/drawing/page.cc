#include "caffe2_core/graph/drawing/page.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/drawing/argument_text.h"
#include "caffe2_core/graph/drawing/markup.h"

namespace caffe2rt {
namespace {

constexpr size_t kMostValue = 400;  // bytes of an argument's text
constexpr size_t kMostNameBytes = 200;

// Appends "," unless `out` ends with the begin of a list.
void Separate(std::string* out) {
  if (!out->empty() && out->back() != '[' && out->back() != '{') *out += ',';
}

void AddText(const char* key, const std::string& value, std::string* out) {
  if (value.empty()) return;
  Separate(out);
  absl::StrAppend(out, "\"", key, "\":", JsonString(value));
}

void AddNumber(const char* key, int64_t value, std::string* out) {
  if (value == 0) return;
  Separate(out);
  absl::StrAppend(out, "\"", key, "\":", value);
}

// "key":[["name","value"], ...]
class PairList {
 public:
  PairList(const char* key, std::string* out) : out_(out) {
    Separate(out_);
    absl::StrAppend(out_, "\"", key, "\":[");
  }
  ~PairList() { *out_ += ']'; }
  PairList(const PairList&) = delete;
  PairList& operator=(const PairList&) = delete;

  void Add(const std::string& name, const std::string& value) {
    Separate(out_);
    absl::StrAppend(out_, "[", JsonString(Shortened(name, kMostNameBytes)), ",", JsonString(value),
                    "]");
  }

 private:
  std::string* const out_;
};

void AddBlobs(const char* key, const std::vector<std::string>& names,
              const std::vector<TensorShape>& shapes, std::string* out) {
  PairList list(key, out);
  for (size_t i = 0; i < names.size(); ++i) list.Add(names[i], ShapeText(shapes[i]));
}

void AddOperator(const FlowNode& node, const DrawnNet& net, std::string* out) {
  const uint32_t first = node.ops.front();
  const OperatorDef& op = net.net->op(static_cast<int>(first));
  const OpSummary& summary = net.summary->ops[first];
  Separate(out);
  absl::StrAppend(out, "\"position\":", first);
  AddText("name", Shortened(op.name(), kMostNameBytes), out);
  AddText("engine", Shortened(op.engine(), kMostNameBytes), out);
  AddText("problem", Shortened(summary.problem, kMostValue), out);
  {
    PairList arguments("arguments", out);
    for (const Argument& arg : op.arg()) arguments.Add(arg.name(), ArgumentText(arg, kMostValue));
  }
  AddBlobs("inputs", summary.input_names, summary.inputs, out);
  AddBlobs("outputs", summary.output_names, summary.outputs, out);
  AddNumber("parameters", summary.parameters, out);
  AddNumber("multiply_adds", summary.multiply_adds, out);
  AddNumber("output_bytes", summary.output_bytes, out);
  if (node.ops.size() == 1) return;
  PairList others("others", out);
  for (const uint32_t other : node.ops) {
    const std::vector<std::string>& names = net.summary->ops[other].output_names;
    others.Add(names.empty() ? "" : names[0], net.summary->ops[other].name);
  }
}

// Everything that the page's script needs, in the order of the graph's lists.
std::string DataOf(const FlowGraph& graph, const std::vector<DrawnNet>& nets) {
  std::string out = "{\"nodes\":[";
  for (const FlowNode& node : graph.nodes) {
    Separate(&out);
    out += '{';
    const bool is_operator = node.kind == FlowNode::Kind::kOperator;
    AddText("kind",
            is_operator                           ? "operator"
            : node.kind == FlowNode::Kind::kInput ? "input"
                                                  : "output",
            &out);
    AddText("title", node.title, &out);
    if (nets.size() > 1) AddText("net", nets[node.net].title, &out);
    if (is_operator) {
      AddOperator(node, nets[node.net], &out);
    } else {
      PairList lines("lines", &out);
      for (const std::string& line : node.names.empty() ? node.lines : node.names)
        lines.Add(line, "");
    }
    out += '}';
  }
  out += "],\"edges\":[";
  for (const FlowEdge& edge : graph.edges) {
    Separate(&out);
    absl::StrAppend(&out, "[", edge.from, ",", edge.to, ",", JsonString(BlobNames(edge)), "]");
  }
  return out + "]}";
}

}  // namespace

std::string DrawingPage(const FlowGraph& graph, const std::vector<DrawnNet>& nets,
                        const std::string& title, const std::string& svg) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      EscapeXml(title), "</title>\n<style>", kPageStyle, "</style>\n</head>\n<body>\n", kPageBody,
      "<main id=\"view\" tabindex=\"0\">\n", svg,
      "</main>\n<aside id=\"details\" aria-label=\"Details\" hidden></aside>\n</div>\n<script "
      "type=\"application/json\" id=\"data\">",
      DataOf(graph, nets), "</script>\n<script>", kPageScript, "</script>\n</body>\n</html>\n");
}

}  // namespace caffe2rt
