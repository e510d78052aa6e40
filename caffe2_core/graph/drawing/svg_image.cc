#include "caffe2_core/graph/drawing/svg_image.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <map>
#include <utility>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/node_box.h"

namespace caffe2rt {
namespace {

constexpr double kPaperMargin = 20, kHeaderPx = 16;
constexpr double kLegendHeight = 22, kSwatch = 12, kLegendGap = 18, kLeastImageWidth = 560;

// The colors of skip connections, in turn (Okabe and Ito's, dark ones).
constexpr std::array<const char*, 4> kSkipColors = {"#0072b2", "#d55e00", "#00805f", "#b04a8c"};

std::string Px(double value) {
  std::string text = FixedText(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string Attribute(const char* name, double value) {
  return absl::StrCat(" ", name, "=\"", Px(value), "\"");
}

std::string RectAttributes(double x, double y, double width, double height) {
  return absl::StrCat(Attribute("x", x), Attribute("y", y), Attribute("width", width),
                      Attribute("height", height));
}

std::string Text(double x, double y, const char* css_class, const std::string& text) {
  return absl::StrCat("<text", Attribute("x", x), Attribute("y", y), " class=\"", css_class, "\">",
                      EscapeXml(text), "</text>");
}

std::string MarkerDef(const std::string& id, const char* color) {
  return absl::StrCat("<marker id=\"", id,
                      "\" viewBox=\"0 0 10 10\" refX=\"9.5\" refY=\"5\" markerWidth=\"9\" "
                      "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                      "<path class=\"head\" d=\"M0 0.8 L10 5 L0 9.2 z\" fill=\"",
                      color, "\"/></marker>");
}

class SvgWriter {
 public:
  SvgWriter(const FlowGraph& graph, const NetDrawingLayout& layout)
      : graph_(graph), layout_(layout) {
    for (const NetDrawingLayout::Box& box : layout.nodes)
      rows_.emplace_back(box.y, box.y + box.height);
    std::sort(rows_.begin(), rows_.end());
    for (size_t i = rows_.size(); i-- > 1;)
      rows_[i - 1].second = std::min(rows_[i - 1].second, rows_[i].second);
  }

  std::string Write(const std::string& title, const std::string& subtitle) {
    width_ = std::max(layout_.width, kLeastImageWidth) + 2 * kPaperMargin;
    left_ = kPaperMargin + std::max(0.0, (kLeastImageWidth - layout_.width) / 2);
    std::string legend;
    top_ = kPaperMargin + WriteLegend(kPaperMargin + 44, &legend);
    const double height = top_ + layout_.height + kPaperMargin;
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", Attribute("width", width_),
        Attribute("height", height), " viewBox=\"0 0 ", Px(width_), " ", Px(height), "\">\n<title>",
        EscapeXml(title), "</title>\n<style>", SvgStyle(), "</style>\n<defs>",
        MarkerDef("flow", "#555555"));
    for (size_t i = 0; i < kSkipColors.size(); ++i)
      Add(MarkerDef(absl::StrCat("skip", i), kSkipColors[i]));
    Add("</defs>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
    Add(Text(kPaperMargin, kPaperMargin + kHeaderPx, "header",
             FittedText(Printable(title), kHeaderPx, true, width_ - 2 * kPaperMargin)),
        "\n",
        Text(kPaperMargin, kPaperMargin + 34, "legend",
             FittedText(Printable(subtitle), kTextPx, false, width_ - 2 * kPaperMargin)),
        "\n", legend);
    for (size_t i = 0; i < graph_.groups.size(); ++i) WriteFrame(i);
    for (size_t i = 0; i < graph_.edges.size(); ++i) WriteEdge(i);
    for (size_t i = 0; i < graph_.groups.size(); ++i) WriteFrameTitle(i);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) WriteNode(i);
    Add("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void Add(const Parts&... parts) {
    absl::StrAppend(&out_, parts...);
  }

  // Returns the lower end of the legend of the families that occur.
  double WriteLegend(double y, std::string* out) const {
    std::array<bool, kNumOperatorFamilies> occurs{};
    for (const FlowNode& node : graph_.nodes) {
      if (node.kind == FlowNode::Kind::kOperator) occurs[static_cast<size_t>(node.family)] = true;
    }
    double x = kPaperMargin;
    for (int i = 0; i < kNumOperatorFamilies; ++i) {
      if (!occurs[static_cast<size_t>(i)]) continue;
      const auto family = static_cast<OperatorFamily>(i);
      const std::string title = FamilyTitle(family);
      const double item = kSwatch + 6 + TextWidth(title, kTextPx, false);
      if (x > kPaperMargin && x + item > width_ - kPaperMargin) {
        x = kPaperMargin;
        y += kLegendHeight;
      }
      absl::StrAppend(out, "<rect class=\"swatch ", FamilyClass(family), "\"",
                      RectAttributes(x, y, kSwatch, kSwatch), "/><rect class=\"bar ",
                      FamilyClass(family), "\"", RectAttributes(x, y, 5, kSwatch), "/>",
                      Text(x + kSwatch + 6, y + 10, "legend", title), "\n");
      x += item + kLegendGap;
    }
    const bool carries =
        std::any_of(graph_.edges.begin(), graph_.edges.end(),
                    [](const FlowEdge& e) { return e.kind == FlowEdge::Kind::kCarried; });
    if (carries) {
      y += kLegendHeight;
      absl::StrAppend(
          out, Text(kPaperMargin, y + 10, "legend", "Dashed arrows lead to the next repetition."),
          "\n");
    }
    return y + kLegendHeight - kPaperMargin;
  }

  void WriteFrame(size_t i) {
    const NetDrawingLayout::Box& box = layout_.groups[i];
    if (box.width <= 0) return;
    const FlowGroup& group = graph_.groups[i];
    const double x = left_ + box.x, y = top_ + box.y;
    Add("<g class=\"frame ", group.repeats > 1 ? "repeated" : "net", "\" id=\"g", i, "\"><title>",
        EscapeXml(group.repeats > 1 ? absl::StrCat("repeated ", group.repeats, " times")
                                    : group.title),
        "</title><rect", RectAttributes(x, y, box.width, box.height), " rx=\"8\"/></g>\n");
  }

  // Above the edges, so that none crosses the title.
  void WriteFrameTitle(size_t i) {
    const NetDrawingLayout::Box& box = layout_.groups[i];
    if (box.width <= 0) return;
    Add(Text(left_ + box.x + 10, top_ + box.y + 16, "frame-title",
             FittedText(Printable(graph_.groups[i].title), kTitlePx, true, box.width - 16)),
        "\n");
  }

  std::string PathOf(const std::vector<NetDrawingLayout::Point>& points) const {
    std::string path;
    for (size_t i = 0; i < points.size(); ++i) {
      absl::StrAppend(&path,
                      i == 0   ? "M"
                      : i == 1 ? " C"
                               : " ",
                      Px(left_ + points[i].x), " ", Px(top_ + points[i].y));
    }
    return path;
  }

  // The next color that no other skip edge has at the same end, so that neighbors can be told apart.
  size_t SkipColorOf(const FlowEdge& edge) {
    std::bitset<kSkipColors.size()>& out = colors_out_[edge.from];
    std::bitset<kSkipColors.size()>& in = colors_in_[edge.to];
    size_t color = next_color_;
    for (size_t k = 0; k < kSkipColors.size() && (out[color] || in[color]); ++k)
      color = (color + 1) % kSkipColors.size();
    out.set(color);
    in.set(color);
    next_color_ = (color + 1) % kSkipColors.size();
    return color;
  }

  // Whether a node lies between the rows of the ends of a downward edge.
  bool PassesARow(const FlowEdge& edge) const {
    constexpr double kSlack = 0.5;
    const NetDrawingLayout::Box &from = layout_.nodes[edge.from], &to = layout_.nodes[edge.to];
    const auto next =
        std::lower_bound(rows_.begin(), rows_.end(), std::pair(from.y + from.height - kSlack, 0.0));
    return next != rows_.end() && next->second <= to.y + kSlack;
  }

  void WriteEdge(size_t i) {
    const FlowEdge& edge = graph_.edges[i];
    const std::string path = PathOf(layout_.edges[i]);
    std::string css_class = "edge";
    std::string marker = "flow";
    if (edge.kind == FlowEdge::Kind::kCarried) css_class += " carried";
    if (edge.kind == FlowEdge::Kind::kControl) css_class += " control";
    if (edge.kind == FlowEdge::Kind::kWeights) css_class += " weights";
    std::string halo;
    if (IsSkip(graph_, edge) && PassesARow(edge)) {
      marker = absl::StrCat("skip", SkipColorOf(edge));
      css_class += " " + marker;
      halo = absl::StrCat("<path class=\"halo\" d=\"", path, "\"/>");
    }
    Add("<g class=\"", css_class, "\" id=\"e", i, "\"><title>", EscapeXml(BlobNames(edge)),
        edge.kind == FlowEdge::Kind::kCarried ? " (to the next repetition)" : "", "</title>", halo,
        "<path d=\"", path, "\" marker-end=\"url(#", marker, ")\"/></g>\n");
  }

  void WriteNode(size_t i) {
    const FlowNode& node = graph_.nodes[i];
    const NetDrawingLayout::Box& place = layout_.nodes[i];
    const NodeBox box = BoxOf(node);
    const double x = left_ + place.x, y = top_ + place.y;
    const bool is_operator = node.kind == FlowNode::Kind::kOperator;
    const char* css_class = is_operator                           ? FamilyClass(node.family)
                            : node.kind == FlowNode::Kind::kInput ? "input"
                                                                  : "output";
    Add("<g class=\"node ", css_class, "\" id=\"n", i, "\"><title>", EscapeXml(TooltipOf(node)),
        "</title><rect class=\"box\"", RectAttributes(x, y, place.width, place.height),
        Attribute("rx", is_operator ? 4 : std::min(place.height / 2, 18.0)), "/>");
    if (is_operator)
      Add("<rect class=\"bar\"", RectAttributes(x, y, 6, place.height), " rx=\"3\"/>");
    Add(Text(x + kTextLeft, y + kFirstBaseline, "type", box.title));
    if (!box.detail.empty()) Add(Text(x + box.detail_x, y + kFirstBaseline, "detail", box.detail));
    for (size_t k = 0; k < box.lines.size(); ++k) {
      Add(Text(x + kTextLeft, y + kFirstBaseline + kLineHeight * static_cast<double>(k + 1), "line",
               box.lines[k]));
    }
    const FlowGroup& group = graph_.groups[node.group];
    if (group.repeats > 1 && layout_.groups[node.group].width <= 0)
      Add(Text(x + place.width + 3, y + 11, "frame-title", group.title));
    Add("</g>\n");
  }

  static std::string TooltipOf(const FlowNode& node) {
    std::string text = node.title;
    if (!node.detail.empty()) absl::StrAppend(&text, "  ", node.detail);
    for (const std::string& line : node.lines) absl::StrAppend(&text, "; ", line);
    return text;
  }

  const FlowGraph& graph_;
  const NetDrawingLayout& layout_;
  double width_ = 0, left_ = 0, top_ = 0;
  std::map<size_t, std::bitset<kSkipColors.size()>> colors_out_, colors_in_;  // by node
  size_t next_color_ = 0;
  // The upper ends of the nodes, sorted, each with the least lower end of this node and those after
  // it.
  std::vector<std::pair<double, double>> rows_;
  std::string out_;
};

}  // namespace

std::string SvgStyle() {
  std::string style =
      "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:11px;fill:#222}"
      ".header{font-size:16px;font-weight:bold}.type{font-size:13px;font-weight:bold}"
      ".detail,.legend{fill:#444}.line{fill:#333}"
      ".frame-title{font-size:13px;font-weight:bold;fill:#444;stroke:#fff;stroke-width:4;"
      "stroke-linejoin:round;paint-order:stroke}"
      ".paper{fill:#fff}.frame rect{fill:#f6f7f9;stroke:#9aa4b2}"
      ".repeated rect{fill:#fffbea;stroke:#b8a24a;stroke-dasharray:6 3}"
      ".edge path{fill:none;stroke:#555;stroke-width:1.3}"
      ".edge .halo{stroke:#fff;stroke-width:6;stroke-opacity:0.85}"
      ".carried path{stroke-dasharray:5 4}.control path{stroke-dasharray:1.5 3}"
      ".weights path{stroke:#8a94a3;stroke-dasharray:2 3}"
      ".box{stroke:#6b7280;fill:#fff}.input .box,.output .box{stroke:#222;stroke-width:1.6}";
  for (size_t i = 0; i < kSkipColors.size(); ++i) {
    absl::StrAppend(&style, ".skip", i, " path{stroke:", kSkipColors[i], ";stroke-width:2}.skip", i,
                    " .halo{stroke:#fff;stroke-width:6}");
  }
  for (int i = 0; i < kNumOperatorFamilies; ++i) {
    const auto family = static_cast<OperatorFamily>(i);
    const char* name = FamilyClass(family);
    absl::StrAppend(&style, ".", name, " .box,.swatch.", name, "{fill:", FamilyFill(family), "}.",
                    name, " .bar,.bar.", name, "{fill:", FamilyColor(family), "}");
  }
  return style;
}

std::string SvgImage(const FlowGraph& graph, const NetDrawingLayout& layout,
                     const std::string& title, const std::string& subtitle) {
  return SvgWriter(graph, layout).Write(title, subtitle);
}

}  // namespace caffe2rt
