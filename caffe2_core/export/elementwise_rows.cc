// Element functions, arithmetic and comparisons.

#include <algorithm>
#include <limits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"

namespace caffe2rt {
namespace {

// The operator of ONNX with the same inputs and meaning.
void WriteSame(OperatorExport* op) {
  op->RefuseOutputsFrom(1);
  const std::vector<std::string> inputs = op->Ins();
  op->Node(std::string(op->row().onnx_type), inputs, {op->Out()});
}

// The value of input 0, which hands its elements on.
void WriteIdentity(OperatorExport* op) {
  op->RefuseOutputsFrom(1);
  const std::string x = op->In(0);
  op->Node("Identity", {x}, {op->Out()});
}

void WriteDropout(OperatorExport* op) {
  CAFFE_ENFORCE(op->args.GetSingleArgument<int>("is_test", 0) != 0,
                "Dropout drops elements; want argument is_test 1 in a net that is exported");
  WriteIdentity(op);
}

// The dim of A that matches the first one of B, as a number or as a letter of `order`; -1: the last match.
int64_t BroadcastAxis(const OperatorExport& op) {
  const auto letter = op.args.GetSingleArgument<std::string>("axis_str", "");
  if (letter.empty()) return op.args.GetSingleArgument<int64_t>("axis", -1);
  const auto order = op.args.GetSingleArgument<std::string>("order", "NCHW");
  const size_t axis = order.find(letter);
  CAFFE_ENFORCE(axis != std::string::npos, "argument axis_str is \"", letter,
                "\", want a letter of ", order);
  return static_cast<int64_t>(axis);
}

// The second operand of arithmetic with argument `broadcast`: its first dim is one of A's, which
// trailing dims of 1 express in ONNX.
std::string SecondOperand(OperatorExport* op) {
  const int64_t axis = BroadcastAxis(*op);
  if (op->args.GetSingleArgument<int>("broadcast", 0) == 0 || axis == -1) return op->In(1);
  const int trailing = op->Rank(0) - static_cast<int>(axis) - op->Rank(1);
  CAFFE_ENFORCE_GE(trailing, 0, "dims of input 0 behind those of input 1, which begin at axis ",
                   axis);
  if (trailing == 0) return op->In(1);
  OnnxDims dims = op->InputDims(1);
  dims.insert(dims.end(), static_cast<size_t>(trailing), 1);
  if (op->graph().Weight(op->Blob(1)) != nullptr)
    return op->graph().ReshapedWeight(op->Blob(1), dims);
  return op->Emit("Reshape", {op->In(1), op->graph().Constant(dims)});
}

void WriteBinary(OperatorExport* op) {
  const std::string a = op->In(0);
  const std::string b = SecondOperand(op);
  op->Node(std::string(op->row().onnx_type), {a, b}, {op->Out()});
}

void WriteBitwise(OperatorExport* op) {
  CAFFE_ENFORCE_GE(op->graph().opset(), 18, "operator ", op->def().type(),
                   " needs opset 18; choose it with --opset");
  WriteBinary(op);
}

// Comparisons of ONNX order numbers only.
void WriteOrder(OperatorExport* op) {
  std::string a = op->In(0);
  std::string b = SecondOperand(op);
  if (op->InputType(0) == TensorProto::BOOL) {
    a = op->Emit("Cast", {a}, {Int("to", onnx::TensorProto::INT32)});
    b = op->Emit("Cast", {b}, {Int("to", onnx::TensorProto::INT32)});
  }
  op->Node(std::string(op->row().onnx_type), {a, b}, {op->Out()});
}

// ONNX's Sum takes floating point numbers only.
void WriteSum(OperatorExport* op) {
  const bool floating =
      op->InputType(0) != TensorProto::INT32 && op->InputType(0) != TensorProto::INT64;
  const std::vector<std::string> inputs = op->Ins();
  if (floating || inputs.size() < 2) {
    return op->Node(floating ? "Sum" : "Identity", inputs, {op->Out()});
  }
  std::string sum = inputs[0];
  for (size_t i = 1; i + 1 < inputs.size(); ++i) sum = op->Emit("Add", {sum, inputs[i]});
  op->Node("Add", {sum, inputs.back()}, {op->Out()});
}

void WriteNotEqual(OperatorExport* op) {
  const std::string a = op->In(0);
  const std::string equal = op->Emit("Equal", {a, SecondOperand(op)});
  op->Node("Not", {equal}, {op->Out()});
}

void WritePow(OperatorExport* op) {
  const std::string x = op->In(0);
  const std::string exponent =
      op->HasInput(1) ? SecondOperand(op)
                      : op->graph().Scalar(op->args.GetSingleArgument<float>("exponent", 0));
  op->Node("Pow", {x, exponent}, {op->Out()});
}

void WriteScale(OperatorExport* op) {
  const auto scale = op->args.GetSingleArgument<float>("scale", 1);
  const std::string x = op->In(0);
  op->Node("Mul", {x, op->ScalarLikeInput(scale)}, {op->Out()});
}

void WriteSqr(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Mul", {x, x}, {op->Out()});
}

void WriteCube(OperatorExport* op) {
  const std::string x = op->In(0);
  const std::string square = op->Emit("Mul", {x, x});
  op->Node("Mul", {square, x}, {op->Out()});
}

void WriteRsqrt(OperatorExport* op) {
  const std::string root = op->Emit("Sqrt", {op->In(0)});
  op->Node("Reciprocal", {root}, {op->Out()});
}

void WriteSwish(OperatorExport* op) {
  const std::string x = op->In(0);
  const std::string gate = op->Emit("Sigmoid", {x});
  op->Node("Mul", {x, gate}, {op->Out()});
}

void WriteMish(OperatorExport* op) {
  const std::string x = op->In(0);
  const std::string gate = op->Emit("Tanh", {op->Emit("Softplus", {x})});
  op->Node("Mul", {x, gate}, {op->Out()});
}

// x * (1 + erf(x / sqrt(2))) / 2, or 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
void WriteGelu(OperatorExport* op) {
  OnnxGraph& graph = op->graph();
  const bool fast = op->args.GetSingleArgument<int>("fast_gelu", 0) != 0;
  const std::string x = op->In(0);
  if (graph.opset() >= 20) {
    op->Node("Gelu", {x}, {op->Out()}, {Text("approximate", fast ? "tanh" : "none")});
    return;
  }
  std::string inner;
  if (fast) {
    const std::string square = op->Emit("Mul", {x, x});
    const std::string factor =
        op->Emit("Add", {op->Emit("Mul", {square, graph.Scalar(0.044715f)}), graph.Scalar(1.f)});
    const std::string scaled =
        op->Emit("Mul", {op->Emit("Mul", {x, factor}), graph.Scalar(0.7978845608f)});
    inner = op->Emit("Tanh", {scaled});
  } else {
    inner = op->Emit("Erf", {op->Emit("Mul", {x, graph.Scalar(0.70710678118f)})});
  }
  const std::string gate = op->Emit("Add", {inner, graph.Scalar(1.f)});
  const std::string half = op->Emit("Mul", {x, graph.Scalar(0.5f)});
  op->Node("Mul", {half, gate}, {op->Out()});
}

void WriteElu(OperatorExport* op) {
  const auto alpha = op->args.GetSingleArgument<float>("alpha", 1);
  const std::string x = op->In(0);
  op->Node("Elu", {x}, {op->Out()}, {Float("alpha", alpha)});
}

void WriteSelu(OperatorExport* op) {
  const auto alpha = op->args.GetSingleArgument<float>("alpha", 1.6732632423543772f);
  const auto scale = op->args.GetSingleArgument<float>("scale", 1.0507009873554805f);
  const std::string x = op->In(0);
  op->Node("Selu", {x}, {op->Out()}, {Float("alpha", alpha), Float("gamma", scale)});
}

void WriteLeakyRelu(OperatorExport* op) {
  const auto alpha = op->args.GetSingleArgument<float>("alpha", 0.01f);
  const std::string x = op->In(0);
  op->Node("LeakyRelu", {x}, {op->Out()}, {Float("alpha", alpha)});
}

void WriteHardSigmoid(OperatorExport* op) {
  const auto alpha = op->args.GetSingleArgument<float>("alpha", 0.2f);
  const auto beta = op->args.GetSingleArgument<float>("beta", 0.5f);
  const std::string x = op->In(0);
  op->Node("HardSigmoid", {x}, {op->Out()}, {Float("alpha", alpha), Float("beta", beta)});
}

void WriteThresholdedRelu(OperatorExport* op) {
  const auto alpha = op->args.GetSingleArgument<float>("alpha", 1);
  const std::string x = op->In(0);
  op->Node("ThresholdedRelu", {x}, {op->Out()}, {Float("alpha", alpha)});
}

void WriteBounds(OperatorExport* op, float min, float max) {
  const std::string x = op->In(0);
  const std::string low = op->graph().Scalar(min), high = op->graph().Scalar(max);
  op->Node("Clip", {x, low, high}, {op->Out()});
}

void WriteClip(OperatorExport* op) {
  using Limits = std::numeric_limits<float>;
  WriteBounds(op, op->args.GetSingleArgument<float>("min", Limits::lowest()),
              op->args.GetSingleArgument<float>("max", Limits::max()));
}

void WriteReluN(OperatorExport* op) {
  WriteBounds(op, 0, op->args.GetSingleArgument<float>("n", 6));
}

// The slopes count channels: dim 1, or the last one.
void WritePRelu(OperatorExport* op) {
  const std::string x = op->In(0);
  const OnnxDims slopes = op->InputDims(1);
  int64_t count = 1;
  for (const int64_t dim : slopes) count *= dim;
  OnnxDims dims = {count};
  if (count != 1 && !op->IsNHWC()) dims.insert(dims.end(), std::max(op->Rank(0) - 2, 0), 1);
  std::string slope;
  if (dims == slopes) {
    slope = op->In(1);
  } else if (op->graph().Weight(op->Blob(1)) != nullptr) {
    slope = op->graph().ReshapedWeight(op->Blob(1), dims);
  } else {
    slope = op->Emit("Reshape", {op->In(1), op->graph().Constant(dims)});
  }
  op->Node("PRelu", {x, slope}, {op->Out()});
}

void WriteCast(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Cast", {x}, {op->Out()}, {Int("to", ExportedTypeOf(op->OutputType(0)))});
}

void WriteFloatToHalf(OperatorExport* op) {
  constexpr float kLargestHalf = 65504;
  std::string x = op->In(0);
  if (op->args.GetSingleArgument<int>("clip", 0) != 0) {
    const std::string low = op->graph().Scalar(-kLargestHalf),
                      high = op->graph().Scalar(kLargestHalf);
    x = op->Emit("Clip", {x, low, high});
  }
  op->Node("Cast", {x}, {op->Out()}, {Int("to", onnx::TensorProto::FLOAT16)});
}

void WriteHalfToFloat(OperatorExport* op) {
  const std::string x = op->In(0);
  op->Node("Cast", {x}, {op->Out()}, {Int("to", onnx::TensorProto::FLOAT)});
}

void WriteWhere(OperatorExport* op) {
  CAFFE_ENFORCE(op->args.GetSingleArgument<int>("broadcast_on_rows", 0) == 0,
                "argument broadcast_on_rows has no counterpart in ONNX");
  const std::vector<std::string> inputs = op->Ins();
  op->Node("Where", inputs, {op->Out()});
}

// Y = X * scale + bias for each channel.
void WriteAffineChannel(OperatorExport* op) {
  const std::string x = op->In(0);
  std::string factors[2];
  for (int i = 0; i < 2; ++i) {
    factors[i] = op->In(i + 1);
    const int trailing = op->IsNHWC() ? 0 : op->Rank(0) - 2;
    if (trailing <= 0) continue;
    OnnxDims dims = {op->InputDims(i + 1).at(0)};
    dims.insert(dims.end(), static_cast<size_t>(trailing), 1);
    factors[i] = op->Emit("Reshape", {factors[i], op->graph().Constant(dims)});
  }
  const std::string scaled = op->Emit("Mul", {x, factors[0]});
  op->Node("Add", {scaled, factors[1]}, {op->Out()});
}

}  // namespace

std::vector<OnnxExportRow> ElementwiseExportRows() {
  return {
      {"Abs", WriteSame, "Abs"},
      {"Acos", WriteSame, "Acos"},
      {"Asin", WriteSame, "Asin"},
      {"Atan", WriteSame, "Atan"},
      {"Ceil", WriteSame, "Ceil"},
      {"Cos", WriteSame, "Cos"},
      {"Cosh", WriteSame, "Cosh"},
      {"Erf", WriteSame, "Erf"},
      {"Exp", WriteSame, "Exp"},
      {"Floor", WriteSame, "Floor"},
      {"Log", WriteSame, "Log"},
      {"Max", WriteSame, "Max"},
      {"Mean", WriteSame, "Mean"},
      {"Min", WriteSame, "Min"},
      {"Negative", WriteSame, "Neg"},
      {"Not", WriteSame, "Not"},
      {"Reciprocal", WriteSame, "Reciprocal"},
      {"Relu", WriteSame, "Relu"},
      {"Sigmoid", WriteSame, "Sigmoid"},
      {"Sign", WriteSame, "Sign"},
      {"Sin", WriteSame, "Sin"},
      {"Sinh", WriteSame, "Sinh"},
      {"Softplus", WriteSame, "Softplus"},
      {"Softsign", WriteSame, "Softsign"},
      {"Sqrt", WriteSame, "Sqrt"},
      {"Sum", WriteSum},
      {"Tan", WriteSame, "Tan"},
      {"Tanh", WriteSame, "Tanh"},
      {"Add", WriteBinary, "Add"},
      {"And", WriteBinary, "And"},
      {"BitwiseAnd", WriteBitwise, "BitwiseAnd"},
      {"BitwiseOr", WriteBitwise, "BitwiseOr"},
      {"BitwiseXor", WriteBitwise, "BitwiseXor"},
      {"Div", WriteBinary, "Div"},
      {"EQ", WriteBinary, "Equal"},
      {"GE", WriteOrder, "GreaterOrEqual"},
      {"GT", WriteOrder, "Greater"},
      {"LE", WriteOrder, "LessOrEqual"},
      {"LT", WriteOrder, "Less"},
      {"Mul", WriteBinary, "Mul"},
      {"Or", WriteBinary, "Or"},
      {"Sub", WriteBinary, "Sub"},
      {"Xor", WriteBinary, "Xor"},
      {"NE", WriteNotEqual},
      {"Pow", WritePow},
      {"Alias", WriteIdentity},
      {"Copy", WriteIdentity},
      {"EnsureCPUOutput", WriteIdentity},
      {"CopyFromCPUInput", WriteIdentity},
      {"StopGradient", WriteIdentity},
      {"Dropout", WriteDropout},
      {"Scale", WriteScale},
      {"Sqr", WriteSqr},
      {"Cube", WriteCube},
      {"Rsqrt", WriteRsqrt},
      {"Swish", WriteSwish},
      {"Mish", WriteMish},
      {"Gelu", WriteGelu},
      {"Elu", WriteElu},
      {"Selu", WriteSelu},
      {"LeakyRelu", WriteLeakyRelu},
      {"HardSigmoid", WriteHardSigmoid},
      {"ThresholdedRelu", WriteThresholdedRelu},
      {"Clip", WriteClip},
      {"ReluN", WriteReluN},
      {"PRelu", WritePRelu},
      {"Cast", WriteCast},
      {"FloatToHalf", WriteFloatToHalf},
      {"HalfToFloat", WriteHalfToFloat},
      {"Where", WriteWhere},
      {"AffineChannel", WriteAffineChannel},
  };
}

}  // namespace caffe2rt
