#pragma once
// Writes the operators of a net, or of a net inside an operator, into a graph.

#include "caffe2_core/export/onnx_graph.h"
#include "caffe2_core/graph/shape_inference.h"

namespace caffe2rt {

// Infers the shapes of the net's blobs into `shapes` and writes its operators, in order. THROWS at the
// first operator that cannot be written; the error names it.
void WriteOperators(const NetDef& net, OnnxGraph& graph, ShapeMap* shapes);

}  // namespace caffe2rt
