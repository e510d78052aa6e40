// Operators that move elements, and fills.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

// The axis of Concat and Split: as the argument says, or that of the channels of an image, also for other
// ranks.
int64_t ChannelAxis(const OperatorExport& op) {
  if (op.args.HasArgument("axis")) {
    // ONNX, too, counts negative axes from the end.
    return op.KnowsInput(0) ? op.Axis("axis", 1) : op.args.GetSingleArgument<int64_t>("axis", 1);
  }
  return op.IsNHWC() ? 3 : 1;
}

void WriteSplitInfo(OperatorExport* op, int64_t axis, bool add_axis) {
  if (!op->IsRead(1)) return;
  std::vector<int64_t> sizes;
  for (int i = 0; i < op->def().input_size(); ++i) {
    sizes.push_back(add_axis ? 1 : op->InputDims(i).at(static_cast<size_t>(axis)));
  }
  op->Node("Cast", {op->graph().Constant(sizes)}, {op->Out(1)},
           {Int("to", onnx::TensorProto::INT32)});
}

void WriteConcat(OperatorExport* op) {
  const bool add_axis = op->args.GetSingleArgument<int>("add_axis", 0) != 0;
  int64_t axis = 0;
  if (add_axis) {
    axis = op->args.GetSingleArgument<int64_t>("axis", 1);
    if (axis < 0) axis += op->Rank(0) + 1;
  } else {
    axis = ChannelAxis(*op);
  }
  std::vector<std::string> inputs = op->Ins();
  if (add_axis) {
    for (std::string& input : inputs) {
      input = op->Emit("Unsqueeze", {input, op->graph().Constant({axis})});
    }
  }
  WriteSplitInfo(op, axis, add_axis);
  op->Node("Concat", inputs, {op->Out(0)}, {Int("axis", axis)});
}

// The size of each output of Split.
std::vector<int64_t> SplitSizes(OperatorExport* op, int64_t axis) {
  CAFFE_ENFORCE(!op->HasInput(1), "input 1 (split) of Split is computed by the net, want a weight");
  const auto given = op->args.GetRepeatedArgument<int64_t>("split");
  if (!given.empty()) return given;
  const auto outputs = static_cast<size_t>(op->def().output_size());
  const int64_t size = op->InputDims(0).at(static_cast<size_t>(axis));
  const auto count = static_cast<int64_t>(outputs);
  if (op->args.GetSingleArgument<int>("uneven", 0) == 0)
    return std::vector<int64_t>(outputs, size / count);
  std::vector<int64_t> sizes;
  const int64_t most = (size + count - 1) / count;
  for (int64_t left = size; sizes.size() < outputs; left -= sizes.back())
    sizes.push_back(std::min(most, left));
  return sizes;
}

// Sizes that the net computes stay an input.
void WriteComputedSplit(OperatorExport* op, int64_t axis) {
  const std::string x = op->In(0), counts = op->In(1);
  std::vector<std::string> parts;
  for (int i = 0; i < op->def().output_size(); ++i) parts.push_back(op->Out(i));
  op->Node("Split", {x, counts}, parts, {Int("axis", axis)});
}

void WriteSplit(OperatorExport* op) {
  const int64_t axis = ChannelAxis(*op);
  if (op->HasInput(1) && op->InputType(1) == TensorProto::INT64)
    return WriteComputedSplit(op, axis);
  const std::vector<int64_t> sizes = SplitSizes(op, axis);
  const bool add_axis = op->args.GetSingleArgument<int>("add_axis", 0) != 0;
  const std::string x = op->In(0), counts = op->graph().Constant(sizes);
  std::vector<std::string> parts;
  for (int i = 0; i < op->def().output_size(); ++i) {
    parts.push_back(add_axis ? op->graph().NewName(op->def().output(i) + "_part") : op->Out(i));
  }
  op->Node("Split", {x, counts}, parts, {Int("axis", axis)});
  if (!add_axis) return;
  for (int i = 0; i < op->def().output_size(); ++i) {
    op->Node("Squeeze", {parts[static_cast<size_t>(i)], op->graph().Constant({axis})},
             {op->Out(i)});
  }
}

// An index of Slice: a negative one counts from one behind the end.
int64_t SliceIndex(int64_t index) {
  if (index >= 0) return index;
  return index == -1 ? INT64_MAX : index + 1;
}

void WriteSlice(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(1),
                "inputs 1 and 2 (starts, ends) of Slice are computed by the net, want weights");
  auto starts = op->args.GetRepeatedArgument<int64_t>("starts");
  auto ends = op->args.GetRepeatedArgument<int64_t>("ends");
  std::transform(starts.begin(), starts.end(), starts.begin(), SliceIndex);
  std::transform(ends.begin(), ends.end(), ends.begin(), SliceIndex);
  const std::string x = op->In(0);
  op->Node("Slice", {x, op->graph().Constant(starts), op->graph().Constant(ends)}, {op->Out()});
}

void WriteReshape(OperatorExport* op) {
  const std::string x = op->In(0);
  std::string shape;
  if (!op->HasInput(1)) {
    shape = op->graph().Constant(op->args.GetRepeatedArgument<int64_t>("shape"));

  } else {
    shape = op->In(1);
    if (op->InputType(1) != TensorProto::INT64) {
      shape = op->Emit("Cast", {shape}, {Int("to", onnx::TensorProto::INT64)});
    }
  }
  if (op->IsRead(1)) op->Node("Shape", {x}, {op->Out(1)});
  op->Node("Reshape", {x, shape}, {op->Out(0)});
}

void WriteFlatten(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Flatten", {x}, {op->Out()},
           {Int("axis", op->args.GetSingleArgument<int64_t>("axis", 1))});
}

void WriteFlattenToVec(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Reshape", {x, op->graph().Constant({-1})}, {op->Out()});
}

// Squeeze and ExpandDims: each position counts once.
void WriteDims(OperatorExport* op) {
  const auto dims = op->args.GetRepeatedArgument<int64_t>("dims");
  const std::set<int64_t> unique(dims.begin(), dims.end());
  const std::string x = op->In(0);
  op->Node(std::string(op->row().onnx_type),
           {x, op->graph().Constant({unique.begin(), unique.end()})}, {op->Out()});
}

void WriteTranspose(OperatorExport* op) {
  const std::string x = op->In(0);
  const auto axes = op->args.GetRepeatedArgument<int64_t>("axes");
  op->Node("Transpose", {x}, {op->Out()},
           axes.empty() ? OnnxAttributes{} : OnnxAttributes{Ints("perm", axes)});
}

void WriteNHWC2NCHW(OperatorExport* op) {
  const int rank = op->Rank(0);
  std::vector<int64_t> perm = {0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  const std::string x = op->In(0);
  op->Node("Transpose", {x}, {op->Out()}, {Ints("perm", perm)});
}

void WriteNCHW2NHWC(OperatorExport* op) {
  const std::string x = op->In(0);
  op->ToNHWC(x, op->Rank(0), op->Out());
}

void WriteTile(OperatorExport* op) {
  CAFFE_ENFORCE(!op->HasInput(1),
                "inputs 1 and 2 of Tile are computed by the net, want weights or arguments");
  OnnxDims repeats(static_cast<size_t>(op->Rank(0)), 1);
  repeats.at(static_cast<size_t>(op->Axis("axis", 0))) =
      op->args.GetSingleArgument<int64_t>("tiles", 1);
  const std::string x = op->In(0);
  op->Node("Tile", {x, op->graph().Constant(repeats)}, {op->Out()});
}

void WriteGather(OperatorExport* op) {
  CAFFE_ENFORCE(op->args.GetSingleArgument<int>("match_outer", 0) == 0,
                "argument match_outer of Gather has no counterpart in ONNX");
  const int64_t axis =
      op->def().type() == "BatchGather" ? 1 : op->args.GetSingleArgument<int64_t>("axis", 0);
  const std::string x = op->In(0), indices = op->In(1);
  op->Node("Gather", {x, indices}, {op->Out()}, {Int("axis", axis)});
}

void WriteShape(OperatorExport* op) {
  const auto axes = op->args.GetRepeatedArgument<int64_t>("axes");
  const bool is_cut = op->args.HasArgument("start") || op->args.HasArgument("end");
  const std::string x = op->In(0);
  if (axes.empty() && !is_cut) return op->Node("Shape", {x}, {op->Out()});
  const std::string shape = op->Emit("Shape", {x});
  if (!axes.empty()) {
    return op->Node("Gather", {shape, op->graph().Constant(axes)}, {op->Out()});
  }
  // ONNX's own attributes for this need opset 15.
  const auto start = op->args.GetSingleArgument<int64_t>("start", 0);
  const auto end = op->args.GetSingleArgument<int64_t>("end", INT64_MAX);
  op->Node("Slice",
           {shape, op->graph().Constant(OnnxDims{start}), op->graph().Constant(OnnxDims{end})},
           {op->Out()});
}

void WriteSize(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Size", {x}, {op->Out()});
}

// The one element of ConstantOfShape or of a constant, of the type that the operator makes.
void SetFillValue(const OperatorExport& op, onnx::TensorProto* tensor) {
  const auto* value = GetArgumentPtr(op.def(), "value");
  const int64_t i = value != nullptr && value->has_i() ? value->i() : 0;
  const float f = value != nullptr && value->has_f() ? value->f() : static_cast<float>(i);
  switch (tensor->data_type()) {
    case onnx::TensorProto::FLOAT:
      tensor->add_float_data(f);
      break;
    case onnx::TensorProto::DOUBLE:
      tensor->add_double_data(f);
      break;
    case onnx::TensorProto::INT64:
      tensor->add_int64_data(i);
      break;
    default:
      tensor->add_int32_data(static_cast<int32_t>(i));
  }
}

void WriteConstantFill(OperatorExport* op) {
  OnnxGraph& graph = op->graph();
  const int32_t type = ExportedTypeOf(op->OutputType(0));
  CAFFE_ENFORCE(type != onnx::TensorProto::STRING,
                "ConstantFill of strings has no counterpart in ONNX");
  const auto extra = op->args.GetRepeatedArgument<int64_t>("extra_shape");
  CAFFE_ENFORCE(!op->HasInput(1), "input 1 (value) of ConstantFill has no counterpart in ONNX");
  const std::string value = graph.NewName(op->def().output(0) + "_fill");
  SetFillValue(*op, graph.AddInitializer(value, type, {}));
  std::string shape;
  if (!op->HasInput(0)) {
    shape = graph.Constant(op->args.GetRepeatedArgument<int64_t>("shape"));
  } else if (op->args.GetSingleArgument<int>("input_as_shape", 0) != 0) {
    shape = op->In(0);
  } else {
    shape = op->Emit("Shape", {op->In(0)});
  }
  if (!extra.empty()) shape = op->Emit("Concat", {shape, graph.Constant(extra)}, {Int("axis", 0)});
  op->Node("Expand", {value, shape}, {op->Out()});
}

// A fill in the net becomes an initializer.
void WriteGivenTensor(OperatorExport* op) {
  const OnnxDims dims = op->OutputDims(0);
  const int32_t type = ExportedTypeOf(op->OutputType(0));
  auto* tensor = op->graph().AddInitializer(op->Out(), type, dims);
  if (type == onnx::TensorProto::DOUBLE) {
    for (const float f : op->args.GetRepeatedArgument<float>("values")) tensor->add_double_data(f);
    return;
  }
  if (type == onnx::TensorProto::FLOAT) {
    for (const float f : op->args.GetRepeatedArgument<float>("values")) tensor->add_float_data(f);
    return;
  }
  if (type == onnx::TensorProto::STRING) {
    for (const std::string& s : op->args.GetRepeatedArgument<std::string>("values"))
      tensor->add_string_data(s);
    return;
  }
  for (const int64_t i : op->args.GetRepeatedArgument<int64_t>("values")) {
    if (type == onnx::TensorProto::INT64) {
      tensor->add_int64_data(i);
    } else {
      tensor->add_int32_data(static_cast<int32_t>(i));
    }
  }
}

}  // namespace

std::vector<OnnxExportRow> ShapeExportRows() {
  return {
      {"Concat", WriteConcat},
      {"DepthConcat", WriteConcat},
      {"Split", WriteSplit},
      {"DepthSplit", WriteSplit},
      {"Slice", WriteSlice},
      {"Reshape", WriteReshape},
      {"Flatten", WriteFlatten},
      {"FlattenToVec", WriteFlattenToVec},
      {"Squeeze", WriteDims, "Squeeze"},
      {"ExpandDims", WriteDims, "Unsqueeze"},
      {"Transpose", WriteTranspose},
      {"NHWC2NCHW", WriteNHWC2NCHW},
      {"NCHW2NHWC", WriteNCHW2NHWC},
      {"Tile", WriteTile},
      {"Gather", WriteGather},
      {"BatchGather", WriteGather},
      {"Shape", WriteShape},
      {"Size", WriteSize},
      {"ConstantFill", WriteConstantFill},
      {"GivenTensorFill", WriteGivenTensor},
      {"GivenTensorIntFill", WriteGivenTensor},
      {"GivenTensorInt64Fill", WriteGivenTensor},
      {"GivenTensorBoolFill", WriteGivenTensor},
  };
}

}  // namespace caffe2rt
