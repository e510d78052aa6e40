#pragma once
// Shapes and types of the blobs of nets, told from the schemas of their operators without running
// anything.
//
//   ShapeMap shapes = {{"data", CreateTensorShape(std::vector<int64_t>{1, 3, 224, 224},
//   TensorProto::FLOAT)}}; InferBlobShapesAndTypes({&init_net, &predict_net}, &shapes);     //
//   Caffe2's rules: all or nothing
//
//   for (const OpShapes& op : InferOpShapes({&init_net, &predict_net}, &shapes)) ...   // by
//   operator
//
// Built-in schemas must be registered before (EnsureBuiltinOperators). Nets may be hostile: what an
// inference function throws never leaves, and the work is linear in the size of the nets. Thread
// safe for maps of one's own.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Blob name to shape; an entry with unknown_shape is a blob of which nothing is known.
using ShapeMap = std::map<std::string, TensorShape>;

// What inference found for one operator.
struct OpShapes {
  int net = 0;  // position in the list of nets
  int op = 0;   // position in that net
  std::vector<TensorShape>
      inputs;  // as they were when the operator was reached; unknown_shape for what is not known
  std::vector<TensorShape> outputs;  // one per output; unknown_shape for what is not known
  std::string problem;               // why nothing was inferred, one line; empty when something was
  bool failed = false;               // the operator cannot work on these shapes (inference threw)
};

// Infers over the nets in order; `shapes` holds the seeds and takes the results. As in the original
// an operator is passed over when an input is not in the map, it has no schema, or it enqueues or
// dequeues; a Sum spreads the first known shape over its unknown inputs; a gradient takes the shape
// of its variable. When an inference function throws, an error is logged and the result is empty.
// The result lists all entries of the map by name. THROWS when an inference function gives another
// number of shapes than there are outputs (Slice may give none).
TensorShapes InferBlobShapesAndTypes(const std::vector<const NetDef*>& nets, ShapeMap* shapes);

// The same rules, but an operator that cannot be inferred says so and leaves its outputs unknown,
// and the others go on. THROWS for null pointers only.
std::vector<OpShapes> InferOpShapes(const std::vector<const NetDef*>& nets, ShapeMap* shapes);

// From dimensions of type FLOAT; each must be at least 0 (THROWS).
TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::vector<NetDef*>& nets);
// With types; a blob without one is FLOAT.
TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::unordered_map<std::string, TensorProto_DataType>& blob_types,
    const std::vector<NetDef*>& nets);

}  // namespace caffe2rt
