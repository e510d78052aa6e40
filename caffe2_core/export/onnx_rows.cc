// Operators that have ONNX's inputs, outputs and attributes: those that the importer writes.

#include <algorithm>
#include <array>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// What ONNX has as an input, and an operator also as an argument.
struct FormParameter {
  enum Kind { kNone, kList, kNumber, kOneNumber, kOneFloat, kFloats };
  int input = 0;
  const char* argument = "";
  Kind kind = kNone;
};

struct OnnxForm {
  std::string_view type, onnx_type;
  int opset = kMinOnnxExportOpset;  // the first that has the operator with these inputs
  std::array<FormParameter, 4> parameters = {};
};

constexpr OnnxForm kOnnxForms[] = {
    {"Acosh", "Acosh"},
    {"Asinh", "Asinh"},
    {"Atanh", "Atanh"},
    {"BitShift", "BitShift"},
    {"BitwiseNot", "BitwiseNot", 18},
    {"BlackmanWindow", "BlackmanWindow", 17},
    {"CenterCropPad", "CenterCropPad", 18, {{{1, "shape", FormParameter::kList}}}},
    {"Compress", "Compress"},
    {"ConvInteger", "ConvInteger"},
    {"CumSum", "CumSum", 14},
    {"DFT", "DFT", 20},
    {"DepthToSpace", "DepthToSpace"},
    {"DequantizeLinear", "DequantizeLinear"},
    {"Det", "Det"},
    {"DynamicQuantizeLinear", "DynamicQuantizeLinear"},
    {"Einsum", "Einsum"},
    {"EyeLike", "EyeLike"},
    {"GRU", "GRU", 14},
    {"GatherElements", "GatherElements"},
    {"GatherND", "GatherND"},
    {"GridSample", "GridSample", 20},
    {"HammingWindow", "HammingWindow", 17},
    {"HannWindow", "HannWindow", 17},
    {"Hardmax", "Hardmax"},
    {"IsInf", "IsInf"},
    {"LSTM", "LSTM", 14},
    {"MatMulInteger", "MatMulInteger"},
    {"MaxUnpool", "MaxUnpool"},
    {"MelWeightMatrix", "MelWeightMatrix", 17},
    {"NonMaxSuppression",
     "NonMaxSuppression",
     kMinOnnxExportOpset,
     {{{2, "max_output_boxes_per_class", FormParameter::kOneNumber},
       {3, "iou_threshold", FormParameter::kOneFloat},
       {4, "score_threshold", FormParameter::kOneFloat}}}},
    {"NonZero", "NonZero"},
    {"ONNXAbs", "Abs"},
    {"ONNXArgMax", "ArgMax"},
    {"ONNXArgMin", "ArgMin"},
    {"ONNXAveragePool", "AveragePool"},
    {"ONNXCeil", "Ceil"},
    {"ONNXClip", "Clip"},
    {"ONNXCol2Im",
     "Col2Im",
     18,
     {{{1, "image_shape", FormParameter::kList}, {2, "block_shape", FormParameter::kList}}}},
    {"ONNXConvTranspose", "ConvTranspose"},
    {"ONNXDeformConv", "DeformConv", 19},
    {"ONNXDropout", "Dropout"},
    {"ONNXExp", "Exp"},
    {"ONNXExpand", "Expand", kMinOnnxExportOpset, {{{1, "shape", FormParameter::kList}}}},
    {"ONNXFloor", "Floor"},
    {"ONNXLog", "Log"},
    {"ONNXLpPool", "LpPool"},
    {"ONNXMatMul", "MatMul"},
    {"ONNXMax", "Max"},
    {"ONNXMaxPool", "MaxPool"},
    {"ONNXMin", "Min"},
    {"ONNXMod", "Mod"},
    {"ONNXOneHot", "OneHot"},
    {"ONNXPow", "Pow"},
    {"ONNXRange", "Range"},
    {"ONNXRoiAlign", "RoiAlign", 16},
    {"ONNXSlice",
     "Slice",
     kMinOnnxExportOpset,
     {{{1, "starts", FormParameter::kList},
       {2, "ends", FormParameter::kList},
       {3, "axes", FormParameter::kList},
       {4, "steps", FormParameter::kList}}}},
    {"ONNXSqueeze", "Squeeze", kMinOnnxExportOpset, {{{1, "axes", FormParameter::kList}}}},
    {"ONNXTile", "Tile", kMinOnnxExportOpset, {{{1, "repeats", FormParameter::kList}}}},
    {"ONNXTopK", "TopK", kMinOnnxExportOpset, {{{1, "k", FormParameter::kOneNumber}}}},
    {"ONNXUnique", "Unique"},
    {"ONNXWhere", "Where"},
    {"Pad",
     "Pad",
     kMinOnnxExportOpset,
     {{{1, "pads", FormParameter::kList}, {3, "axes", FormParameter::kList}}}},
    {"QLinearConv", "QLinearConv"},
    {"QLinearMatMul", "QLinearMatMul"},
    {"QuantizeLinear", "QuantizeLinear"},
    {"RNN", "RNN", 14},
    {"Resize",
     "Resize",
     kMinOnnxExportOpset,
     {{{1, "roi", FormParameter::kFloats},
       {2, "scales", FormParameter::kFloats},
       {3, "sizes", FormParameter::kList}}}},
    {"ReverseSequence", "ReverseSequence"},
    {"Round", "Round"},
    {"STFT", "STFT", 17},
    {"ScatterElements", "ScatterElements"},
    {"ScatterND", "ScatterND"},
    {"SpaceToDepth", "SpaceToDepth"},
    {"TensorScatter", "TensorScatter", 24},
    {"TfIdfVectorizer", "TfIdfVectorizer"},
    {"Trilu", "Trilu", 14, {{{1, "k", FormParameter::kNumber}}}},
    {"Unsqueeze", "Unsqueeze", kMinOnnxExportOpset, {{{1, "axes", FormParameter::kList}}}}};

// Attributes that an opset brought, with the value that says the same without them.
struct NewAttribute {
  std::string_view onnx_type, name;
  int opset;
  std::string_view plain;
};
constexpr NewAttribute kNewAttributes[] = {{"AveragePool", "dilations", 19, ""},
                                           {"DequantizeLinear", "block_size", 21, "0"},
                                           {"DequantizeLinear", "output_dtype", 23, "0"},
                                           {"LpPool", "ceil_mode", 18, "0"},
                                           {"LpPool", "dilations", 18, ""},
                                           {"QuantizeLinear", "block_size", 21, "0"},
                                           {"QuantizeLinear", "output_dtype", 21, "0"},
                                           {"QuantizeLinear", "saturate", 19, "1"},
                                           {"Resize", "antialias", 18, "0"},
                                           {"Resize", "axes", 18, ""},
                                           {"Resize", "keep_aspect_ratio_policy", 18, "stretch"},
                                           {"ScatterElements", "reduction", 16, "none"},
                                           {"SpaceToDepth", "mode", kMaxOnnxExportOpset + 1, "DCR"},
                                           {"ScatterND", "reduction", 16, "none"}};

const OnnxForm& FormOf(const OperatorExport& op) {
  const std::string_view type = op.row().type;
  return *std::find_if(std::begin(kOnnxForms), std::end(kOnnxForms),
                       [&](const OnnxForm& form) { return form.type == type; });
}

std::string TextOf(const Argument& argument) {
  if (argument.has_s()) return argument.s();
  return argument.has_i() ? MakeString(argument.i()) : std::string();
}

// Arguments of this library alone, and those that say nothing.
bool IsLeftOut(OperatorExport& op, const OnnxForm& form, const Argument& argument) {
  if (argument.name() == "omitted_inputs") return true;
  const bool is_empty =
      !argument.has_i() && !argument.has_f() && !argument.has_s() &&
      argument.ints_size() + argument.floats_size() + argument.strings_size() == 0;
  if (is_empty) return true;
  const auto* brought = std::find_if(
      std::begin(kNewAttributes), std::end(kNewAttributes), [&](const NewAttribute& row) {
        return row.onnx_type == form.onnx_type && row.name == argument.name();
      });
  if (brought == std::end(kNewAttributes) || op.graph().opset() >= brought->opset) return false;
  const bool plain = !brought->plain.empty() && TextOf(argument) == brought->plain;
  CAFFE_ENFORCE(plain, "argument ", argument.name(), " needs opset ", brought->opset, ", got ",
                op.graph().opset(), "; choose it with --opset");
  return true;
}

bool NumbersAType(const Argument& argument) {
  return argument.name() == "dtype" || argument.name() == "output_dtype" ||
         argument.name() == "output_datatype";
}

OnnxAttribute AttributeOf(const Argument& argument) {
  const std::string& name = argument.name();
  if (NumbersAType(argument) && argument.i() != 0)
    return {name, int64_t{ExportedTypeOf(static_cast<TensorProto_DataType>(argument.i()))}};
  if (argument.has_i()) return {name, argument.i()};
  if (argument.has_f()) return {name, argument.f()};
  if (argument.has_s()) return {name, argument.s()};
  if (argument.floats_size() > 0)
    return {name, OnnxFloats(argument.floats().begin(), argument.floats().end())};
  if (argument.strings_size() > 0)
    return {name, std::vector<std::string>(argument.strings().begin(), argument.strings().end())};
  return {name, std::vector<int64_t>(argument.ints().begin(), argument.ints().end())};
}

// A parameter that is an argument as ONNX's input.
std::string ConstantOf(OperatorExport* op, const FormParameter& parameter) {
  OnnxGraph& graph = op->graph();
  const ArgumentHelper& args = op->args;
  switch (parameter.kind) {
    case FormParameter::kNumber:
      return graph.Scalar(args.GetSingleArgument<int64_t>(parameter.argument, 0));
    case FormParameter::kOneNumber:
      return graph.Constant({args.GetSingleArgument<int64_t>(parameter.argument, 0)});
    case FormParameter::kOneFloat:
      return graph.Filled({1}, args.GetSingleArgument<float>(parameter.argument, 0));
    case FormParameter::kFloats:
      return graph.Floats(args.GetRepeatedArgument<float>(parameter.argument));
    default:
      return graph.Constant(args.GetRepeatedArgument<int64_t>(parameter.argument));
  }
}

// The inputs in ONNX's places; "" for those that are left out. The importer writes empty tensors for
// parameters that are left out before others.
std::vector<std::string> PlacedInputs(OperatorExport* op, const OnnxForm& form) {
  std::vector<std::string> inputs;
  const std::vector<int> omitted = op->args.GetRepeatedArgument<int>("omitted_inputs");
  for (int i = 0; i < op->def().input_size(); ++i) {
    while (std::find(omitted.begin(), omitted.end(), static_cast<int>(inputs.size())) !=
           omitted.end()) {
      inputs.emplace_back();
    }
    const Tensor* weight = op->graph().Weight(op->Blob(i));
    const bool is_absent = i > 0 && form.parameters[0].input > 0 && weight != nullptr &&
                           weight->numel() == 0 && weight->dim() == 1;
    inputs.push_back(is_absent ? "" : op->In(i));
  }
  for (const FormParameter& parameter : form.parameters) {
    if (parameter.input == 0 || !op->args.HasArgument(parameter.argument)) continue;
    const auto place = static_cast<size_t>(parameter.input);
    if (inputs.size() <= place) inputs.resize(place + 1);
    if (inputs[place].empty()) inputs[place] = ConstantOf(op, parameter);
  }
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  return inputs;
}

void WriteOnnxForm(OperatorExport* op) {
  const OnnxForm& form = FormOf(*op);
  CAFFE_ENFORCE_GE(op->graph().opset(), form.opset, "operator ", form.onnx_type, " needs opset ",
                   form.opset, "; choose it with --opset; opset");
  const std::vector<std::string> inputs = PlacedInputs(op, form);
  OnnxAttributes attributes;
  for (const Argument& argument : op->def().arg()) {
    const bool is_input = std::any_of(
        form.parameters.begin(), form.parameters.end(), [&](const FormParameter& parameter) {
          return parameter.input > 0 && argument.name() == parameter.argument;
        });
    if (!is_input && !IsLeftOut(*op, form, argument)) attributes.push_back(AttributeOf(argument));
  }
  std::vector<std::string> outputs;
  for (int i = 0; i < op->def().output_size(); ++i) outputs.push_back(op->Out(i));
  op->Node(std::string(form.onnx_type), inputs, outputs, attributes);
}

// The operator writes bytes, ONNX's bools.
void WriteIsNaN(OperatorExport* op) {
  const std::string bits = op->Emit("IsNaN", {op->In(0)});
  op->Node("Cast", {bits}, {op->Out()}, {Int("to", ExportedTypeOf(op->OutputType(0)))});
}

}  // namespace

std::vector<OnnxExportRow> OnnxFormExportRows() {
  std::vector<OnnxExportRow> rows = {{"IsNaN", WriteIsNaN}};
  for (const OnnxForm& form : kOnnxForms)
    rows.push_back({form.type, WriteOnnxForm, form.onnx_type});
  return rows;
}

}  // namespace caffe2rt
