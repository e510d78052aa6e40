#pragma once
// The graph of an ONNX model while it is written: nodes, initializers, and the names of values.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// An attribute of a node: OnnxAttribute{"axis", int64_t{1}}.
struct OnnxAttribute {
  std::string name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
               std::vector<std::string>>
      value;
};
using OnnxAttributes = std::vector<OnnxAttribute>;
using OnnxDims = std::vector<int64_t>;
using OnnxFloats = std::vector<float>;

// Moves the graph into an attribute of the node.
void SetGraph(const std::string& name, onnx::GraphProto* graph, onnx::NodeProto* node);

// The type of ONNX for a type of Caffe2. THROWS if there is none.
int32_t ExportedTypeOf(TensorProto_DataType type);

class OnnxGraph {
 public:
  // `net` and the options must outlive the graph.
  OnnxGraph(const NetDef& net, const OnnxExportOptions& options);

  int opset() const { return options_.opset; }
  // The name of the value that the blob has now. THROWS if it has none.
  std::string Value(const std::string& blob);
  // The name of the value that the blob gets now.
  std::string Write(const std::string& blob);
  // Whether an operator or the net's user reads the blob.
  bool IsRead(const std::string& blob) const { return read_.contains(blob); }
  // The weight that the blob holds now, or null.
  const Tensor* Weight(const std::string& blob) const;
  // The name of the weight with other dims.
  std::string ReshapedWeight(const std::string& blob, const OnnxDims& dims);

  // A name that no other value has, which begins with `stem`.
  std::string NewName(const std::string& stem);
  std::string Constant(const std::vector<int64_t>& values);  // one axis
  std::string Scalar(float value);
  std::string Scalar(int64_t value);
  std::string Floats(const OnnxFloats& values);  // one axis
  // Elements that are all `value`, of type float or double.
  std::string Filled(const OnnxDims& dims, float value,
                     TensorProto_DataType type = TensorProto::FLOAT);
  // An initializer of that name with the values of an operator such as GivenTensorFill.
  onnx::TensorProto* AddInitializer(const std::string& name, int32_t type, const OnnxDims& dims);

  // Appends a node. Its name and documentation are those of the operator that StartOperator named.
  // The pointer is valid until the next node.
  onnx::NodeProto* AddNode(const std::string& type, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs,
                           const OnnxAttributes& attributes);
  // Null for nodes that no operator names.
  const OperatorDef* StartOperator(const OperatorDef* op) { return std::exchange(op_, op); }

  // A graph inside a node: while `write` runs, nodes go into `graph`. Values that are written there end
  // with it; weights belong to the main graph. `net` is the one that `write` writes.
  void WriteInside(onnx::GraphProto* graph, const NetDef& net, const std::function<void()>& write);
  // Of a graph inside: the name of the value that the blob has at its beginning.
  std::string AddInput(const std::string& blob);
  // Whether the blob has a value or is a weight.
  bool HasValue(const std::string& blob) const {
    return values_.contains(blob) || options_.weights.contains(blob);
  }
  void Note(const std::string& text) { result_.notes.push_back(text); }

  // Ends the graph: states inputs and outputs, whose shapes `shapes` holds, and moves it out.
  OnnxExport Finish(const ShapeMap& shapes);

 private:
  void AddReads(const NetDef& net);
  std::string AddWeight(const std::string& blob, const std::string& name, const OnnxDims& dims);
  void AddOutput(const std::string& blob, const ShapeMap& shapes);

  const NetDef& net_;
  const OnnxExportOptions& options_;
  const OperatorDef* op_ = nullptr;
  OnnxExport result_;
  std::set<std::string> names_;  // of all values
  std::set<std::string> node_names_;
  std::map<std::string, int> repetitions_;            // of the names that were wanted again
  std::set<std::string> read_;                        // blobs that are read at some time
  std::map<std::string, int> writes_left_;            // by blob
  std::map<std::string, std::string> values_;         // blob -> the name of its value
  std::map<std::string, std::string> weight_values_;  // the same for weights as they are given
  onnx::GraphProto* target_;                          // of nodes
  std::map<std::string, std::string> constants_;
};

}  // namespace caffe2rt
