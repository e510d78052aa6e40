#pragma once
// Drawings of a net, as Graphviz DOT text or as SVG.

#include <string>

#include "caffe2_core/graph/net_summary.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct NetDrawingOptions {
  // The maximum number of operators in an SVG drawing. A larger drawing would be unreadable.
  int max_svg_ops = 20000;
};

// Operators are boxes with the shape of their first output, blobs are edges, and inputs of the net
// are ellipses. Parameters are omitted. The operators of a backward pass, and all that read their
// outputs, form a cluster of their own in DOT and are on the right, in another color, in SVG.
// `summary` is the result of SummarizeNet for `net`.
std::string NetAsDot(const NetDef& net, const NetSummary& summary);

// The same graph in layers from top to bottom: an operator is below everything that it reads.
// THROWS if the net has more than max_svg_ops operators.
std::string NetAsSvg(const NetDef& net, const NetSummary& summary,
                     const NetDrawingOptions& options = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
