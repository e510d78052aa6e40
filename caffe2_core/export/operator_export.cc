#include "caffe2_core/export/operator_export.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

OnnxDims DimsOf(const std::vector<TensorShape>& shapes, int i, const std::string& blob) {
  const auto index = static_cast<size_t>(i);
  CAFFE_ENFORCE(index < shapes.size() && !shapes[index].unknown_shape(), "the shape of blob \"",
                blob, "\" is not known; state those of the inputs with --input-shape BLOB=DIMS");
  return {shapes[index].dims().begin(), shapes[index].dims().end()};
}

// The type of a blob; float if it is not known.
TensorProto_DataType TypeOf(const std::vector<TensorShape>& shapes, int i) {
  const auto index = static_cast<size_t>(i);
  if (index >= shapes.size() || shapes[index].data_type() == TensorProto::UNDEFINED)
    return TensorProto::FLOAT;
  return shapes[index].data_type();
}

// 0, last, 1, 2, ...: what moves the channels to the front.
std::vector<int64_t> ChannelsFirst(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> ChannelsLast(int rank) {
  std::vector<int64_t> perm = {0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

std::map<std::string_view, OnnxExportRow> MakeTable() {
  std::map<std::string_view, OnnxExportRow> table;
  for (const auto rows :
       {ControlExportRows, ElementwiseExportRows, WindowExportRows, NormalizationExportRows,
        MatrixExportRows, ShapeExportRows, ReduceExportRows, OnnxFormExportRows}) {
    for (const OnnxExportRow& row : rows()) {
      CAFFE_ENFORCE(table.emplace(row.type, row).second, "two rows for operator ", row.type);
    }
  }
  return table;
}

const std::map<std::string_view, OnnxExportRow>& Table() {
  static const auto* table = new std::map<std::string_view, OnnxExportRow>(MakeTable());
  return *table;
}

}  // namespace

const std::string& OperatorExport::Blob(int i) const {
  CAFFE_ENFORCE(HasInput(i), "operator ", def_.type(), " has ",
                CountText(def_.input_size(), "input"), ", want at least ", i + 1);
  return def_.input(i);
}

std::vector<std::string> OperatorExport::Ins() {
  std::vector<std::string> values;
  for (int i = 0; i < def_.input_size(); ++i) values.push_back(In(i));
  return values;
}

void OperatorExport::RefuseOutputsFrom(int i) const {
  for (; i < def_.output_size(); ++i) {
    CAFFE_ENFORCE(!IsRead(i), "output ", i, " (\"", def_.output(i), "\") of ", def_.type(),
                  " has no counterpart in ONNX, and it is read");
  }
}

bool OperatorExport::KnowsInput(int i) const {
  const auto index = static_cast<size_t>(i);
  return index < shapes_.inputs.size() && !shapes_.inputs[index].unknown_shape();
}

OnnxDims OperatorExport::InputDims(int i) const { return DimsOf(shapes_.inputs, i, Blob(i)); }
OnnxDims OperatorExport::OutputDims(int i) const {
  return DimsOf(shapes_.outputs, i, def_.output(i));
}
TensorProto_DataType OperatorExport::InputType(int i) const { return TypeOf(shapes_.inputs, i); }
TensorProto_DataType OperatorExport::OutputType(int i) const { return TypeOf(shapes_.outputs, i); }

int64_t OperatorExport::Axis(const char* name, int64_t default_value) const {
  const auto axis = args.GetSingleArgument<int64_t>(name, default_value);
  return axis < 0 ? axis + Rank(0) : axis;
}

std::string OperatorExport::Emit(const std::string& type, const std::vector<std::string>& inputs,
                                 const OnnxAttributes& attributes) {
  const std::string& stem = def_.output_size() > 0 ? def_.output(0) : def_.type();
  const std::string value = graph_->NewName(stem + "_" + type);
  Node(type, inputs, {value}, attributes);
  return value;
}

std::string OperatorExport::FromNHWC(const std::string& value, int rank) {
  return Emit("Transpose", {value}, {Ints("perm", ChannelsFirst(rank))});
}

void OperatorExport::ToNHWC(const std::string& value, int rank, const std::string& output) {
  Node("Transpose", {value}, {output}, {Ints("perm", ChannelsLast(rank))});
}

void OperatorExport::NodeNCHW(const std::string& type, std::vector<std::string> inputs, int rank,
                              const OnnxAttributes& attributes) {
  if (!IsNHWC()) return Node(type, inputs, {Out()}, attributes);
  inputs[0] = FromNHWC(inputs[0], rank);
  const std::string value = Emit(type, inputs, attributes);
  ToNHWC(value, rank, Out());
}

std::string OperatorExport::ScalarLikeInput(double value) {
  if (InputType(0) != TensorProto::DOUBLE) return graph_->Scalar(static_cast<float>(value));
  const std::string name = graph_->NewName("const");
  graph_->AddInitializer(name, onnx::TensorProto::DOUBLE, {})->add_double_data(value);
  return name;
}

const OnnxExportRow* FindOnnxExportRow(std::string_view type) {
  const auto row = Table().find(type);
  return row == Table().end() ? nullptr : &row->second;
}

std::vector<std::string_view> OnnxExportTypes() {
  std::vector<std::string_view> types;
  for (const auto& [type, row] : Table()) types.push_back(type);
  return types;
}

}  // namespace caffe2rt
