#pragma once
// Pictures of a net: for Graphviz, and as SVG laid out here.

#include <string>

#include "caffe2_core/graph/net_summary.h"

namespace caffe2rt {

struct NetDrawingOptions {
  // Beyond it a net is not drawn as SVG: nobody could look at it.
  int max_svg_ops = 20000;
};

// Operators are boxes with their output shapes; blobs are edges, inputs of the net ellipses,
// parameters left out. `summary` is that of `net`.
std::string NetAsDot(const NetDef& net, const NetSummary& summary);

// The same, in layers from top to bottom: an operator stands below all that it reads. THROWS beyond
// max_svg_ops.
std::string NetAsSvg(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options = {});

}  // namespace caffe2rt
