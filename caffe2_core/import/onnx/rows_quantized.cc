// Operators of quantized tensors. Those of com.microsoft are computed on numbers: their operands are
// dequantized, and the result is quantized.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

constexpr std::string_view kMicrosoft = "com.microsoft";

std::vector<std::string> WithoutAbsent(std::initializer_list<std::string> inputs) {
  std::vector<std::string> given;
  for (const std::string& input : inputs) {
    if (!input.empty()) given.push_back(input);
  }
  return given;
}

std::string InOrNone(OnnxNode* n, size_t i) { return n->Has(i) ? n->In(i) : ""; }

// The numbers of a quantized tensor, whose scale and zero point are inputs i + 1 and i + 2.
std::string Dequantized(OnnxNode* n, size_t i) {
  return n->Value("DequantizeLinear", WithoutAbsent({n->In(i), n->In(i + 1), InOrNone(n, i + 2)}));
}

// Quantizes x with scale and zero point in inputs i and i + 1, to the type of input `like` without a
// zero point.
void EmitQuantized(OnnxNode* n, const std::string& x, size_t i, size_t like) {
  std::vector<Argument> args;
  if (!n->Has(i + 1)) {
    const int type = n->Type(n->In(like));
    args.push_back(MakeArgument("output_dtype", static_cast<int>(Caffe2TypeOf(type))));
  }
  n->Emit("QuantizeLinear", WithoutAbsent({x, n->In(i), InOrNone(n, i + 1)}), {n->Out(0)}, args);
}

// A, its scale and zero point, B, its scale and zero point, those of the result.
void QuantizedBinary(OnnxNode* n, const char* type) {
  EmitQuantized(n, n->Value(type, {Dequantized(n, 0), Dequantized(n, 3)}), 6, 0);
}
void TranslateQLinearAdd(OnnxNode* n) { QuantizedBinary(n, "Add"); }
void TranslateQLinearMul(OnnxNode* n) { QuantizedBinary(n, "Mul"); }

void TranslateQLinearSigmoid(OnnxNode* n) {
  EmitQuantized(n, n->Value("Sigmoid", {Dequantized(n, 0)}), 3, 0);
}
void TranslateQLinearLeakyRelu(OnnxNode* n) {
  const std::string y =
      n->Value("LeakyRelu", {Dequantized(n, 0)}, {MakeArgument("alpha", n->Float("alpha", 0.01f))});
  EmitQuantized(n, y, 3, 0);
}
void TranslateQLinearSoftmax(OnnxNode* n) {
  CAFFE_ENFORCE_GE(n->Int("opset", 13), 13, "attribute \"opset\", want the meaning of Softmax 13");
  const std::vector<onnx::AttributeProto> axis = {OnnxInt("axis", n->Int("axis", -1))};
  EmitQuantized(n, n->Call("Softmax", {Dequantized(n, 0)}, axis), 3, 0);
}
void TranslateQLinearGlobalAveragePool(OnnxNode* n) {
  const std::string order = n->Int("channels_last", 0) != 0 ? "NHWC" : "NCHW";
  const std::string y = n->Value("AveragePool", {Dequantized(n, 0)},
                                 {MakeArgument("global_pooling", 1), MakeArgument("order", order)});
  EmitQuantized(n, y, 3, 0);
}

// The scale and zero point of the result, then each tensor with its own.
void TranslateQLinearConcat(OnnxNode* n) {
  std::vector<std::string> parts;
  for (size_t i = 2; i + 1 < n->inputs(); i += 3) parts.push_back(Dequantized(n, i));
  std::string joined = n->NewName("joined");
  n->Emit("Concat", parts, {joined, n->NewName("sizes")},
          {MakeArgument("axis", n->Int("axis", 1))});
  EmitQuantized(n, joined, 0, 2);
}

// Output 0 = the exact product times scale, plus bias.
void EmitScaledProduct(OnnxNode* n, const std::string& product, const std::string& scale,
                       const std::string& bias) {
  const std::string sums = n->Cast(product, Proto::FLOAT);
  if (bias.empty()) return n->Emit("Mul", {sums, scale}, {n->Out(0)});
  n->Emit("Add", {n->Value("Mul", {sums, scale}), bias}, {n->Out(0)});
}

// MatMulInteger with omitted zero points.
std::string ExactProduct(OnnxNode* n, const std::vector<std::string>& inputs) {
  return n->Call("MatMulInteger", inputs);
}

// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
void TranslateMatMulIntegerToFloat(OnnxNode* n) {
  const std::string scale = n->Value("Mul", {n->In(2), n->In(3)});
  EmitScaledProduct(n, ExactProduct(n, {n->In(0), n->In(1), InOrNone(n, 4), InOrNone(n, 5)}), scale,
                    InOrNone(n, 6));
}

// A (float), B, b_scale, b_zero_point, bias
void TranslateDynamicQuantizeMatMul(OnnxNode* n) {
  const std::vector<std::string> a = n->CallAll("DynamicQuantizeLinear", {n->In(0)}, {}, 3);
  const std::string scale = n->Value("Mul", {n->In(2), a[1]});
  EmitScaledProduct(n, ExactProduct(n, {a[0], n->In(1), a[2], InOrNone(n, 3)}), scale,
                    InOrNone(n, 4));
}

void TranslateQuantizeLinear(OnnxNode* n) {
  const int64_t precision = n->Int("precision", 0);
  CAFFE_ENFORCE(precision == 0 || precision == Proto::FLOAT, "precision is ", precision,
                ", want FLOAT: other divisions are not supported");
  EmitSame(n, "QuantizeLinear", {"precision"});
}

}  // namespace

std::vector<OnnxRow> OnnxQuantizedRows() {
  return {
      {"ConvInteger", [](OnnxNode* n) { EmitSame(n, "ConvInteger"); }},
      {"DequantizeLinear", [](OnnxNode* n) { EmitSame(n, "DequantizeLinear"); }},
      {"DequantizeLinear", [](OnnxNode* n) { EmitSame(n, "DequantizeLinear"); }, "", false,
       kMicrosoft},
      {"DynamicQuantizeLinear", nullptr, "DynamicQuantizeLinear"},
      {"DynamicQuantizeMatMul", &TranslateDynamicQuantizeMatMul, "", false, kMicrosoft},
      {"MatMulInteger", [](OnnxNode* n) { EmitSame(n, "MatMulInteger"); }},
      {"MatMulIntegerToFloat", &TranslateMatMulIntegerToFloat, "", false, kMicrosoft},
      {"QLinearAdd", &TranslateQLinearAdd, "", false, kMicrosoft},
      {"QLinearConcat", &TranslateQLinearConcat, "", false, kMicrosoft},
      {"QLinearConv", [](OnnxNode* n) { EmitSame(n, "QLinearConv"); }},
      {"QLinearGlobalAveragePool", &TranslateQLinearGlobalAveragePool, "", false, kMicrosoft},
      {"QLinearLeakyRelu", &TranslateQLinearLeakyRelu, "", false, kMicrosoft},
      {"QLinearMatMul", nullptr, "QLinearMatMul"},
      {"QLinearMul", &TranslateQLinearMul, "", false, kMicrosoft},
      {"QLinearSigmoid", &TranslateQLinearSigmoid, "", false, kMicrosoft},
      {"QLinearSoftmax", &TranslateQLinearSoftmax, "", false, kMicrosoft},
      {"QuantizeLinear", &TranslateQuantizeLinear},
      {"QuantizeLinear", &TranslateQuantizeLinear, "", false, kMicrosoft},
  };
}

}  // namespace caffe2rt
