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

// A, its scale and zero point, B, its scale and zero point, C (integers with the product's scale), scale
// and zero point of Y, which has numbers without them.
void TranslateQGemm(OnnxNode* n) {
  const auto matrix = [&](size_t i, const char* flag) {
    return n->Int(flag, 0) == 0 ? n->In(i)
                                : n->Call("Transpose", {n->In(i)}, {OnnxInts("perm", {1, 0})});
  };
  std::string sums =
      ExactProduct(n, {matrix(0, "transA"), matrix(3, "transB"), InOrNone(n, 2), InOrNone(n, 5)});
  if (n->Has(6)) sums = n->Call("Add", {sums, n->In(6)});
  const std::string alpha = n->ScalarConst("alpha", n->Float("alpha", 1), Proto::FLOAT);
  const std::string scale = n->Call("Mul", {n->Call("Mul", {n->In(1), n->In(4)}), alpha});
  const std::string y = n->Call("Mul", {n->Cast(sums, Proto::FLOAT), scale});
  if (!n->Has(7)) return n->Forward(0, y);
  n->Forward(0, n->Call("QuantizeLinear", {y, n->In(7), InOrNone(n, 8)}));
}

// Weights [directions, columns, 4 * units] with a scale and a zero point for each direction or row.
std::string Weights(OnnxNode* n, size_t weights, size_t scale) {
  const auto spread = [&](size_t i) {
    const int64_t rank = n->Rank(n->In(i));
    const std::string axes = n->IntConst("axes", rank == 1 ? OnnxDims{1, 2} : OnnxDims{1});
    return n->Call("Unsqueeze", {n->Cast(n->In(i), Proto::FLOAT), axes});
  };
  std::string w = n->Cast(n->In(weights), Proto::FLOAT);
  if (n->Has(scale + 1)) w = n->Call("Sub", {w, spread(scale + 1)});
  return n->Transpose(n->Call("Mul", {w, spread(scale)}), {0, 2, 1});
}

// X, W, R, B, lengths, first state and cells, P, scales and zero points of W and R. ONNX Runtime rounds X and
// the state to bytes at each step; here they keep their numbers.
void TranslateDynamicQuantizeLSTM(OnnxNode* n) {
  const std::vector<std::string> inputs = {n->In(0),       Weights(n, 1, 8), Weights(n, 2, 10),
                                           InOrNone(n, 3), InOrNone(n, 4),   InOrNone(n, 5),
                                           InOrNone(n, 6), InOrNone(n, 7)};
  EmitSameOf(n, "LSTM", inputs);
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
      {"DynamicQuantizeLSTM", &TranslateDynamicQuantizeLSTM, "", false, kMicrosoft},
      {"DynamicQuantizeMatMul", &TranslateDynamicQuantizeMatMul, "", false, kMicrosoft},
      {"MatMulInteger", [](OnnxNode* n) { EmitSame(n, "MatMulInteger"); }},
      {"MatMulIntegerToFloat", &TranslateMatMulIntegerToFloat, "", false, kMicrosoft},
      {"QGemm", &TranslateQGemm, "", false, kMicrosoft},
      {"QLinearConv", [](OnnxNode* n) { EmitSame(n, "QLinearConv"); }},
      {"QLinearMatMul", nullptr, "QLinearMatMul"},
      {"QuantizeLinear", &TranslateQuantizeLinear},
  };
}

}  // namespace caffe2rt
