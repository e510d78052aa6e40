#pragma once
// Infers the shapes and types of the blobs of nets from the schemas of their operators, without
// running the nets.
//
//   ShapeMap shapes;
//   shapes["data"] = CreateTensorShape(std::vector<int64_t>{1, 3, 224, 224}, TensorProto::FLOAT);
//
//   // Caffe2's rules: shapes for all blobs, or none.
//   InferBlobShapesAndTypes({&init_net, &predict_net}, &shapes);
//
//   // One result per operator; a failure does not stop inference.
//   for (const OpShapes& op : InferOpShapes({&init_net, &predict_net}, &shapes)) ...
//
// Nets may be hostile: exceptions of inference functions do not leave these functions, and the work
// is linear in the size of the nets. Thread safe if each thread uses its own map.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Maps blob names to shapes. An entry with unknown_shape set is a blob that exists but whose shape
// is not known.
using ShapeMap = std::map<std::string, TensorShape>;

// The inferred shapes of one operator. unknown_shape is set in shapes that are not known.
struct OpShapes {
  int net = 0;                       // position in the list of nets
  int op = 0;                        // position in that net
  std::vector<TensorShape> inputs;   // before the operator
  std::vector<TensorShape> outputs;  // one per output
  std::string problem;  // why inference was skipped or failed, one line; otherwise empty
  bool failed = false;  // inference failed: the operator cannot run on inputs of these shapes
};

// Infers shapes through the nets in order. `shapes` contains the known shapes, and the results are
// added to it. Returns all entries of the map, in order of their names.
//
// The rules are Caffe2's. An operator is skipped if an input is not in the map, if it has no
// schema, or if it enqueues or dequeues. Inputs of a Sum whose shapes are not known get the first
// known shape of its other inputs; if there is none, they get the shape of its output at the end of
// the net. If inference does not know the shape of an output "x_grad" of a gradient operator, the
// output gets the shape of x.
//
// If an inference function throws, the error is logged and the result is empty. THROWS if an
// inference function returns a number of shapes that differs from the number of outputs, except
// none for Slice, and for null pointers.
TensorShapes InferBlobShapesAndTypes(const std::vector<const NetDef*>& nets, ShapeMap* shapes);

// Follows the same rules, but continues after an operator that cannot be inferred: its entry has a
// `problem`, and its outputs are not known. Returns one entry for each operator of the nets, in
// order. THROWS for null pointers only.
std::vector<OpShapes> InferOpShapes(const std::vector<const NetDef*>& nets, ShapeMap* shapes);

// Infers from the dimensions of blobs of type FLOAT. THROWS if a dimension is negative.
TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::vector<NetDef*>& nets);
// With the types of the blobs. A blob without a type is FLOAT.
TensorShapes InferBlobShapesAndTypesFromMap(
    const std::unordered_map<std::string, std::vector<int64_t>>& blob_dimensions,
    const std::unordered_map<std::string, TensorProto_DataType>& blob_types,
    const std::vector<NetDef*>& nets);

}  // namespace caffe2rt
#pragma GCC visibility pop
