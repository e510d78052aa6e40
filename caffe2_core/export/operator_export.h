#pragma once
// What a function that writes an operator as ONNX sees: the operator, the shapes of its blobs, and the
// graph; and the table of these functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/export/onnx_graph.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/shape_inference.h"

namespace caffe2rt {

class OperatorExport;

struct OnnxExportRow {
  std::string_view type;
  void (*write)(OperatorExport* op);
  std::string_view onnx_type = {};  // for a function that serves several rows
};

class OperatorExport {
 public:
  // `all_shapes`: of all blobs, to which operators with nets add their outputs.
  OperatorExport(const OnnxExportRow& row, const OperatorDef& def, const OpShapes& shapes,
                 ShapeMap* all_shapes, OnnxGraph* graph)
      : args(def), row_(row), def_(def), shapes_(shapes), all_shapes_(all_shapes), graph_(graph) {}

  const ArgumentHelper args;
  const OnnxExportRow& row() const { return row_; }
  const OperatorDef& def() const { return def_; }
  OnnxGraph& graph() const { return *graph_; }
  ShapeMap& shapes() { return *all_shapes_; }

  bool HasInput(int i) const { return i < def_.input_size(); }
  // The values of the inputs and outputs. In() before Out() of a blob that is both.
  std::string In(int i) { return graph_->Value(Blob(i)); }
  std::vector<std::string> Ins();
  std::string Out(int i = 0) { return graph_->Write(def_.output(i)); }
  const std::string& Blob(int i) const;  // the name of input i. THROWS if there is none
  // Whether there is an output i that somebody reads.
  bool IsRead(int i) const { return i < def_.output_size() && graph_->IsRead(def_.output(i)); }
  // THROWS if somebody reads output i or one after it.
  void RefuseOutputsFrom(int i) const;

  bool KnowsInput(int i) const;
  OnnxDims InputDims(int i) const;   // THROWS if they are not known
  OnnxDims OutputDims(int i) const;  // the same
  int Rank(int i) const { return static_cast<int>(InputDims(i).size()); }
  TensorProto_DataType InputType(int i) const;
  TensorProto_DataType OutputType(int i) const;
  // The argument `name`, which counts axes of input 0 from the end if it is negative, from 0 on.
  int64_t Axis(const char* name, int64_t default_value) const;
  bool IsNHWC() const {
    const std::string order = args.GetSingleArgument<std::string>("order", "NCHW");
    return ParseStorageOrder(order) == StorageOrder::NHWC;
  }

  // Appends a node that writes `outputs`, or one that writes a new value, whose name is returned.
  void Node(const std::string& type, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, const OnnxAttributes& attributes = {}) {
    graph_->AddNode(type, inputs, outputs, attributes);
  }
  std::string Emit(const std::string& type, const std::vector<std::string>& inputs,
                   const OnnxAttributes& attributes = {});
  // The value with its axes in the order of ONNX, and back; `rank` counts all axes.
  std::string FromNHWC(const std::string& value, int rank);
  void ToNHWC(const std::string& value, int rank, const std::string& output);
  // Writes `type` in the order NCHW, whatever that of the operator is. `inputs[0]` is the data.
  void NodeNCHW(const std::string& type, std::vector<std::string> inputs, int rank,
                const OnnxAttributes& attributes);
  // A number of the type of input 0.
  std::string ScalarLikeInput(double value);

 private:
  const OnnxExportRow& row_;
  const OperatorDef& def_;
  const OpShapes& shapes_;
  ShapeMap* all_shapes_;
  OnnxGraph* graph_;
};

// The rows, by topic.
std::vector<OnnxExportRow> ControlExportRows();
std::vector<OnnxExportRow> ElementwiseExportRows();
std::vector<OnnxExportRow> WindowExportRows();
std::vector<OnnxExportRow> NormalizationExportRows();
std::vector<OnnxExportRow> MatrixExportRows();
std::vector<OnnxExportRow> ShapeExportRows();
std::vector<OnnxExportRow> ReduceExportRows();
std::vector<OnnxExportRow> OnnxFormExportRows();  // operators with ONNX's meaning

// Null for a type without an ONNX form.
const OnnxExportRow* FindOnnxExportRow(std::string_view type);

inline OnnxAttribute Int(const char* name, int64_t value) { return {name, value}; }
inline OnnxAttribute Float(const char* name, float value) { return {name, value}; }
inline OnnxAttribute Text(const char* name, const char* value) {
  return {name, std::string(value)};
}
inline OnnxAttribute Ints(const char* name, std::vector<int64_t> values) {
  return {name, std::move(values)};
}

}  // namespace caffe2rt
