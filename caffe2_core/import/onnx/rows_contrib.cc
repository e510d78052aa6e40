// Operators of ONNX Runtime (domain com.microsoft) that exporters and quantizers write, and
// experimental ones of ONNX's first opsets: by the rows of ONNX's operators.

#include <algorithm>
#include <map>

#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

std::string Number(OnnxNode* n, double value, const std::string& like) {
  return n->ScalarConst("number", value, n->Type(like));
}

// --- activations ---

void TranslateBiasGelu(OnnxNode* n) {
  n->Forward(0, n->Call("Gelu", {n->Call("Add", {n->In(0), n->In(1)})}));
}

void TranslateFastGelu(OnnxNode* n) {
  const std::string x = n->Has(1) ? n->Call("Add", {n->In(0), n->In(1)}) : n->In(0);
  n->Forward(0, n->Call("Gelu", {x}, {OnnxText("approximate", "tanh")}));
}

void TranslatePlainGelu(OnnxNode* n) { n->Forward(0, n->Call("Gelu", {n->In(0)})); }

void TranslateQuickGelu(OnnxNode* n) {
  n->Forward(0, n->Call("Swish", {n->In(0)}, {OnnxFloat("alpha", n->Float("alpha", 1.702f))}));
}

std::string Activated(OnnxNode* n, const std::string& x) {
  const std::string type = n->Text("activation");
  const std::vector<float> params = n->FloatList("activation_params");
  // FusedConv has a list, FusedGemm two attributes.
  const auto param = [&](size_t i) {
    return i < params.size() ? params[i]
                             : n->Float(i == 0 ? "activation_alpha" : "activation_beta", 0);
  };
  if (type.empty()) return x;
  if (type == "Relu" || type == "Tanh" || type == "Sigmoid") return n->Call(type, {x});
  if (type == "LeakyRelu") return n->Call(type, {x}, {OnnxFloat("alpha", param(0))});
  if (type == "HardSigmoid") {
    return n->Call(type, {x}, {OnnxFloat("alpha", param(0)), OnnxFloat("beta", param(1))});
  }
  CAFFE_ENFORCE(type == "Clip", "activation is \"", type, "\", which is not supported");
  return n->Call(type, {x, Number(n, param(0), x), Number(n, param(1), x)});
}

// --- products ---

// The attributes of the node but those of its activation.
std::vector<onnx::AttributeProto> OwnAttributes(OnnxNode* n) {
  std::vector<onnx::AttributeProto> attributes;
  for (const auto& [name, attribute] : n->data().attributes) {
    if (!name.starts_with("activation")) attributes.push_back(*attribute);
  }
  return attributes;
}

void TranslateFusedConv(OnnxNode* n) {
  std::vector<std::string> inputs = {n->In(0), n->In(1), n->Has(2) ? n->In(2) : ""};
  std::string y = n->Call("Conv", inputs, OwnAttributes(n));
  if (n->Has(3)) y = n->Call("Add", {y, n->In(3)});
  n->Forward(0, Activated(n, y));
}

void TranslateFusedGemm(OnnxNode* n) {
  const std::vector<std::string> inputs = {n->In(0), n->In(1), n->Has(2) ? n->In(2) : ""};
  n->Forward(0, Activated(n, n->Call("Gemm", inputs, OwnAttributes(n))));
}

// [rows, batches ..., columns] -> [batches ..., rows, columns]
std::string BatchFirst(OnnxNode* n, size_t i, const char* flag) {
  if (n->Int(flag, 0) == 0) return n->In(i);
  const int64_t rank = n->Rank(n->In(i));
  CAFFE_ENFORCE_GE(rank, 2, "axes of an input with ", flag);
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(axis);
  axes.insert(axes.end(), {0, rank - 1});
  return n->Transpose(n->In(i), axes);
}

void TranslateFusedMatMul(OnnxNode* n) {
  const std::string a = BatchFirst(n, 0, "transBatchA"), b = BatchFirst(n, 1, "transBatchB");
  const auto is_vector = [n](const std::string& x) { return n->KnowsRank(x) && n->Rank(x) == 1; };
  const auto may_be_vector = [&](const std::string& x) { return !n->KnowsRank(x) || is_vector(x); };
  // A vector is not transposed.
  const bool trans_a = n->Int("transA", 0) != 0 && !is_vector(a);
  const bool trans_b = n->Int("transB", 0) != 0 && !is_vector(b);
  std::vector<Argument> arguments = {
      MakeArgument("trans_a", trans_a ? 1 : 0), MakeArgument("trans_b", trans_b ? 1 : 0),
      MakeArgument("broadcast", 1), MakeArgument("broadcast_gradient", 1)};
  if (may_be_vector(a) && may_be_vector(b)) arguments.push_back(MakeArgument("scalar", 1));
  const std::string y = trans_a || trans_b ? n->TypedValue("BatchMatMul", {a, b}, arguments)
                                           : n->Call("MatMul", {a, b});
  const float alpha = n->Float("alpha", 1);
  n->Forward(0, alpha == 1 ? y : n->Call("Mul", {y, Number(n, alpha, y)}));
}

// --- normalizations ---

void TranslateSkipLayerNormalization(OnnxNode* n) {
  std::string x = n->Call("Add", {n->In(0), n->In(1)});
  if (n->Has(4)) x = n->Call("Add", {x, n->In(4)});
  n->Forward(0, n->Call("LayerNormalization", {x, n->In(2), n->Has(3) ? n->In(3) : ""},
                        {OnnxFloat("epsilon", n->Float("epsilon", 1e-12f))}));
  n->Forward(3, x);
}

void TranslateSimplifiedLayerNormalization(OnnxNode* n) {
  n->Forward(0, n->Call("RMSNormalization", {n->In(0), n->In(1)},
                        {OnnxFloat("epsilon", n->Float("epsilon", 1e-5f)),
                         OnnxInt("axis", n->Int("axis", -1))}));
}

void TranslateSkipSimplified(OnnxNode* n) {
  std::string x = n->Call("Add", {n->In(0), n->In(1)});
  if (n->Has(3)) x = n->Call("Add", {x, n->In(3)});
  n->Forward(0, n->Call("RMSNormalization", {x, n->In(2)},
                        {OnnxFloat("epsilon", n->Float("epsilon", 1e-12f))}));
  n->Forward(3, x);
}

// --- quantized tensors: dequantized, computed, quantized ---

std::string Dequantized(OnnxNode* n, size_t x) {
  return n->Call("DequantizeLinear", {n->In(x), n->In(x + 1), n->Has(x + 2) ? n->In(x + 2) : ""});
}

void EmitQuantized(OnnxNode* n, const std::string& y, size_t scale) {
  n->Forward(
      0, n->Call("QuantizeLinear", {y, n->In(scale), n->Has(scale + 1) ? n->In(scale + 1) : ""}));
}

void TranslateQLinearAdd(OnnxNode* n) {
  EmitQuantized(n, n->Call("Add", {Dequantized(n, 0), Dequantized(n, 3)}), 6);
}

void TranslateQLinearMul(OnnxNode* n) {
  EmitQuantized(n, n->Call("Mul", {Dequantized(n, 0), Dequantized(n, 3)}), 6);
}

void TranslateQLinearSigmoid(OnnxNode* n) {
  EmitQuantized(n, n->Call("Sigmoid", {Dequantized(n, 0)}), 3);
}

void TranslateQLinearLeakyRelu(OnnxNode* n) {
  const std::vector<onnx::AttributeProto> alpha = {OnnxFloat("alpha", n->Float("alpha", 0.01f))};
  EmitQuantized(n, n->Call("LeakyRelu", {Dequantized(n, 0)}, alpha), 3);
}

void TranslateQLinearGlobalAveragePool(OnnxNode* n) {
  CAFFE_ENFORCE(n->Int("channels_last", 0) == 0, "channels_last is 1, which is not supported");
  EmitQuantized(n, n->Call("GlobalAveragePool", {Dequantized(n, 0)}), 3);
}

// X, scale, zero point, scale and zero point of Y
void TranslateQLinearAveragePool(OnnxNode* n) {
  CAFFE_ENFORCE(n->Int("channels_last", 0) == 0, "channels_last is 1, which is not supported");
  std::vector<onnx::AttributeProto> attributes;
  for (const onnx::AttributeProto& attribute : OwnAttributes(n)) {
    if (attribute.name() != "channels_last") attributes.push_back(attribute);
  }
  EmitQuantized(n, n->Call("AveragePool", {Dequantized(n, 0)}, attributes), 3);
}

// condition, X and Y with their scales and zero points, those of Z
void TranslateQLinearWhere(OnnxNode* n) {
  EmitQuantized(n, n->Call("Where", {n->In(0), Dequantized(n, 1), Dequantized(n, 4)}), 7);
}

void TranslateQLinearReduceMean(OnnxNode* n) {
  const std::string axes = n->HasAttr("axes") ? n->IntConst("axes", n->IntList("axes")) : "";
  EmitQuantized(n,
                n->Call("ReduceMean", {Dequantized(n, 0), axes},
                        {OnnxInt("keepdims", n->Int("keepdims", 1))}),
                3);
}

void TranslateQLinearConcat(OnnxNode* n) {
  std::vector<std::string> parts;
  for (size_t i = 2; i < n->inputs(); i += 3) parts.push_back(Dequantized(n, i));
  EmitQuantized(n, n->Call("Concat", parts, {OnnxInt("axis", n->Int("axis", 0))}), 0);
}

void TranslateQLinearSoftmax(OnnxNode* n) {
  EmitQuantized(n, n->Call("Softmax", {Dequantized(n, 0)}, {OnnxInt("axis", n->Int("axis", -1))}),
                3);
}

void TranslateContribQuantize(OnnxNode* n) {
  n->Forward(0, n->Call(n->type(), n->Ins(), OwnAttributes(n)));
}

// --- ONNX's first opsets ---

void TranslateAffine(OnnxNode* n) {
  const std::string scaled = n->Call("Mul", {n->In(0), Number(n, n->Float("alpha", 1), n->In(0))});
  n->Forward(0, n->Call("Add", {scaled, Number(n, n->Float("beta", 0), n->In(0))}));
}

void TranslateScaledTanh(OnnxNode* n) {
  const std::string inner = n->Call("Mul", {n->In(0), Number(n, n->Float("beta", 1), n->In(0))});
  n->Forward(0,
             n->Call("Mul", {n->Call("Tanh", {inner}), Number(n, n->Float("alpha", 1), n->In(0))}));
}

void TranslateParametricSoftplus(OnnxNode* n) {
  const std::string inner = n->Call("Mul", {n->In(0), Number(n, n->Float("beta", 1), n->In(0))});
  n->Forward(
      0, n->Call("Mul", {n->Call("Softplus", {inner}), Number(n, n->Float("alpha", 1), n->In(0))}));
}

void TranslateImageScaler(OnnxNode* n) {
  const std::vector<float> bias = n->FloatList("bias");
  const std::string scaled = n->Call("Mul", {n->In(0), Number(n, n->Float("scale", 1), n->In(0))});
  const OnnxDims dims = {static_cast<int64_t>(bias.size()), 1, 1};
  n->Forward(0, n->Call("Add", {scaled, n->FloatConst("bias", dims, bias)}));
}

// border: left, top, right, bottom; or the size in `scale`.
void TranslateCrop(OnnxNode* n) {
  const std::vector<int64_t> border = n->IntList("border"), size = n->IntList("scale");
  CAFFE_ENFORCE_EQ(border.size(), size_t{4}, "numbers in attribute \"border\"");
  std::vector<int64_t> ends;
  if (size.empty()) {
    ends = {border[3] == 0 ? INT64_MAX : -border[3], border[2] == 0 ? INT64_MAX : -border[2]};
  } else {
    CAFFE_ENFORCE_EQ(size.size(), size_t{2}, "numbers in attribute \"scale\"");
    ends = {border[1] + size[0], border[0] + size[1]};
  }
  n->Forward(0, n->Call("Slice", {n->In(0), n->IntConst("starts", {border[1], border[0]}),
                                  n->IntConst("ends", ends), n->IntConst("axes", {2, 3})}));
}

void TranslateDynamicSlice(OnnxNode* n) { n->Forward(0, n->Call("Slice", n->Ins())); }

}  // namespace

std::vector<OnnxRow> OnnxContribRows() {
  constexpr std::string_view kMicrosoft = "com.microsoft";
  return {{"Affine", &TranslateAffine},
          {"Crop", &TranslateCrop, "", true},
          {"DynamicSlice", &TranslateDynamicSlice, "", true},
          {"ImageScaler", &TranslateImageScaler},
          {"ParametricSoftplus", &TranslateParametricSoftplus},
          {"ScaledTanh", &TranslateScaledTanh},
          {"SimplifiedLayerNormalization", &TranslateSimplifiedLayerNormalization},
          {"BiasGelu", &TranslateBiasGelu, "", false, kMicrosoft},
          {"DequantizeLinear", &TranslateContribQuantize, "", true, kMicrosoft},
          {"FastGelu", &TranslateFastGelu, "", false, kMicrosoft},
          {"FusedConv", &TranslateFusedConv, "", false, kMicrosoft},
          {"FusedGemm", &TranslateFusedGemm, "", false, kMicrosoft},
          {"FusedMatMul", &TranslateFusedMatMul, "", false, kMicrosoft},
          {"Gelu", &TranslatePlainGelu, "", false, kMicrosoft},
          {"QLinearAdd", &TranslateQLinearAdd, "", true, kMicrosoft},
          {"QLinearAveragePool", &TranslateQLinearAveragePool, "", true, kMicrosoft},
          {"QLinearConcat", &TranslateQLinearConcat, "", true, kMicrosoft},
          {"QLinearGlobalAveragePool", &TranslateQLinearGlobalAveragePool, "", true, kMicrosoft},
          {"QLinearLeakyRelu", &TranslateQLinearLeakyRelu, "", true, kMicrosoft},
          {"QLinearMul", &TranslateQLinearMul, "", true, kMicrosoft},
          {"QLinearReduceMean", &TranslateQLinearReduceMean, "", true, kMicrosoft},
          {"QLinearSigmoid", &TranslateQLinearSigmoid, "", true, kMicrosoft},
          {"QLinearSoftmax", &TranslateQLinearSoftmax, "", true, kMicrosoft},
          {"QLinearWhere", &TranslateQLinearWhere, "", true, kMicrosoft},
          {"QuantizeLinear", &TranslateContribQuantize, "", true, kMicrosoft},
          {"QuickGelu", &TranslateQuickGelu, "", false, kMicrosoft},
          {"SkipLayerNormalization", &TranslateSkipLayerNormalization, "", false, kMicrosoft},
          {"SkipSimplifiedLayerNormalization", &TranslateSkipSimplified, "", false, kMicrosoft}};
}

}  // namespace caffe2rt
