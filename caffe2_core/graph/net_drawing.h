#pragma once
// Drawings of nets, as Graphviz DOT text, as SVG, or as an HTML page.
//
//   const NetDrawing drawing({{&net, &summary, "resnet"}}, {.fold = true});
//   const std::string answer = ...;  // what `dot -Tplain` prints for drawing.DotRequest()
//   const std::string svg = drawing.Svg(drawing.ReadDotLayout(answer));
//   const std::string page = drawing.Html(drawing.PlainLayout());  // without Graphviz
//
// Operators are boxes with their types, their most important arguments, their outputs, and the
// shapes of these. The color shows the family of the operator. Inputs and outputs of a net are nodes
// with round ends. Blobs are arrows, and those that skip operators have colors. Weights are not
// drawn. The page also shows all arguments, inputs and costs of an operator.
//
// Nothing in a net can become markup or script: all text is escaped, and the text for `dot` contains
// no text of the net.

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/graph/net_summary.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct NetDrawingOptions {
  // The maximum number of operators in a drawing. A larger drawing would be unreadable.
  int max_svg_ops = 20000;
  // Draws a block of operators that repeats once, in a frame with the number of repetitions.
  // drawing/repeated_blocks.h defines what a repetition is. Inputs and outputs are never folded.
  bool fold = false;
  // The title of the drawing; if empty, that of the first net.
  std::string title = {};
  // The weights, which are not drawn. If empty, weights are recognized by the operators that read
  // them.
  std::set<std::string> parameters = {};
};

// A net to draw and the result of SummarizeNet for it.
struct DrawnNet {
  const NetDef* net = nullptr;
  const NetSummary* summary = nullptr;
  std::string title;
};

// Positions in px, with y growing downwards. Nodes and edges are in the order of the drawing's own
// lists.
struct NetDrawingLayout {
  struct Point {
    double x = 0, y = 0;
  };
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;  // x and y of the upper left corner
  };
  double width = 0, height = 0;
  std::vector<Box> nodes;
  std::vector<std::vector<Point>> edges;  // Bezier curves: 3 k + 1 points
  std::vector<Box> groups;                // frames; those of width 0 are not drawn
};

// Immutable after construction, and therefore thread safe.
class NetDrawing {
 public:
  // The nets run in the order given and share their blobs: an operator that reads a blob which
  // another net writes is connected with the writer.
  // REQUIRES: the nets and summaries outlive the drawing and do not change. THROWS if there are no
  // nets, a pointer is null, or the nets have more than max_svg_ops operators
  // or 200,000 nodes and arrows.
  NetDrawing(const std::vector<DrawnNet>& nets, const NetDrawingOptions& options);
  ~NetDrawing();
  NetDrawing(const NetDrawing&) = delete;
  NetDrawing& operator=(const NetDrawing&) = delete;

  // The drawing as DOT text, with labels and colors.
  std::string Dot() const;

  // The text that `dot -Tplain` lays out: boxes of fixed sizes and edges, named by numbers.
  std::string DotRequest() const;
  // Parses the output of `dot -Tplain` for DotRequest(). THROWS if it is not a complete layout.
  NetDrawingLayout ReadDotLayout(std::string_view plain) const;
  // A layout in rows from top to bottom: an operator is below everything that it reads.
  NetDrawingLayout PlainLayout() const;

  // An SVG image of layout.width by layout.height px, and a legend. The text is at least 10 px high.
  std::string Svg(const NetDrawingLayout& layout) const;
  // A page that contains the SVG image, with search, zoom and the details of each operator. It
  // loads nothing.
  std::string Html(const NetDrawingLayout& layout) const;

 private:
  struct Content;
  const std::unique_ptr<const Content> content_;
};

// The drawing of one net as DOT text, and as SVG in PlainLayout(). THROWS if the net has more than
// max_svg_ops operators.
std::string NetAsDot(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options = {});
std::string NetAsSvg(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
