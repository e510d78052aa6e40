// Operators of quantized tensors. rows_contrib.cc has those of com.microsoft that compute on numbers.

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

constexpr std::string_view kMicrosoft = "com.microsoft";

std::string InOrNone(OnnxNode* n, size_t i) { return n->Has(i) ? n->In(i) : ""; }

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
      {"DynamicQuantizeLinear", nullptr, "DynamicQuantizeLinear"},
      {"DynamicQuantizeMatMul", &TranslateDynamicQuantizeMatMul, "", false, kMicrosoft},
      {"MatMulInteger", [](OnnxNode* n) { EmitSame(n, "MatMulInteger"); }},
      {"MatMulIntegerToFloat", &TranslateMatMulIntegerToFloat, "", false, kMicrosoft},
      {"QLinearConv", [](OnnxNode* n) { EmitSame(n, "QLinearConv"); }},
      {"QLinearMatMul", nullptr, "QLinearMatMul"},
      {"QuantizeLinear", &TranslateQuantizeLinear},
  };
}

}  // namespace caffe2rt
