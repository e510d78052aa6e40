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

// Numbers of a few bits in bytes, the first in the lowest bits: [..., bytes] -> [..., bytes, numbers of a byte]
std::string Unpacked(OnnxNode* n, const std::string& bytes, int64_t bits) {
  const std::string last = n->IntConst("axes", {-1});
  std::vector<std::string> parts;
  for (int64_t at = 0; at < 8; at += bits) {
    const std::string shift = n->ScalarConst("shift", static_cast<double>(at), Proto::UINT8);
    const std::string mask =
        n->ScalarConst("mask", static_cast<double>((1 << bits) - 1), Proto::UINT8);
    const std::string moved =
        at == 0 ? bytes : n->Call("BitShift", {bytes, shift}, {OnnxText("direction", "RIGHT")});
    parts.push_back(n->Call("Unsqueeze", {n->Call("BitwiseAnd", {moved, mask}), last}));
  }
  return parts.size() == 1 ? parts[0] : n->Call("Concat", parts, {OnnxInt("axis", -1)});
}

std::string FirstColumns(OnnxNode* n, const std::string& x, int64_t count) {
  return n->Call("Slice", {x, n->IntConst("begin", {0}), n->IntConst("end", {count}),
                           n->IntConst("axes", {-1})});
}

// The zero points of blocks, [rows, blocks, 1]: numbers of the type of the scales, or packed ones.
std::string ZeroPointsOfBlocks(OnnxNode* n, int64_t rows, int64_t blocks, int64_t bits) {
  if (!n->Has(3)) {
    return n->ScalarConst("zero_point", static_cast<double>(int64_t{1} << (bits - 1)),
                          Proto::FLOAT);
  }
  std::string zeros = n->In(3);
  if (n->Type(zeros) == Proto::UINT8) {
    zeros = n->Reshape(Unpacked(n, n->Reshape(zeros, {rows, -1}), bits), {rows, -1});
    zeros = n->Cast(FirstColumns(n, zeros, blocks), Proto::FLOAT);
  }
  return n->Reshape(zeros, {rows, blocks, 1});
}

// A, B [N, blocks, bytes of a block], scales of blocks, zero points, indexes of groups, bias: A times the
// transposed matrix of [N, K] numbers, which is computed when the net is initialized.
void TranslateMatMulNBits(OnnxNode* n) {
  const int64_t k = n->Int("K", 0), rows = n->Int("N", 0), bits = n->Int("bits", 4);
  const int64_t size = n->Int("block_size", 0);
  CAFFE_ENFORCE(bits == 2 || bits == 4 || bits == 8, "bits is ", bits, ", want 2, 4 or 8");
  CAFFE_ENFORCE(k > 0 && rows > 0 && size > 0, "K, N and block_size are ", k, ", ", rows, " and ",
                size, ", want at least 1 each");
  CAFFE_ENFORCE(!n->Has(4), "g_idx is given, which is not supported");
  const int64_t blocks = (k - 1) / size + 1;
  std::string w = n->Reshape(Unpacked(n, n->In(1), bits), {rows, blocks, -1});
  w = n->Call("Sub", {n->Cast(w, Proto::FLOAT), ZeroPointsOfBlocks(n, rows, blocks, bits)});
  w = n->Call("Mul", {w, n->Reshape(n->In(2), {rows, blocks, 1})});
  w = FirstColumns(n, n->Reshape(w, {rows, -1}), k);
  std::string y = n->Call("MatMul", {n->In(0), n->Transpose(w, {1, 0})});
  if (n->Has(5)) y = n->Call("Add", {y, n->In(5)});
  n->Forward(0, y);
}

// A table whose last axis is packed, with `columns` numbers in it.
std::string UnpackedTable(OnnxNode* n, const std::string& bytes, int64_t bits, int64_t columns) {
  OnnxDims dims = n->Dims(bytes);
  CAFFE_ENFORCE(!dims.empty(), "a table without axes");
  dims.back() = -1;
  return FirstColumns(n, n->Reshape(Unpacked(n, bytes, bits), dims), columns);
}

// Table, indices, scales of blocks, zero points. The table becomes floats when the net is initialized.
void TranslateGatherBlockQuantized(OnnxNode* n) {
  const int64_t bits = n->Int("bits", 4);
  CAFFE_ENFORCE(bits == 2 || bits == 4 || bits == 8, "bits is ", bits, ", want 2, 4 or 8");
  const bool packed = n->Type(n->In(0)) == Proto::UINT8;
  std::string table = n->In(0), zeros = InOrNone(n, 3);
  if (packed) {
    table = UnpackedTable(n, table, bits, n->FixedDim(table, -1) * (8 / bits));
    if (zeros.empty()) {
      const double middle = static_cast<double>(int64_t{1} << (bits - 1));
      zeros = n->Call("Expand", {n->ScalarConst("zero_point", middle, Proto::UINT8),
                                 n->IntConst("shape", n->Dims(n->In(2)))});
    } else {
      zeros = UnpackedTable(n, zeros, bits, n->FixedDim(n->In(2), -1));
    }
  }
  table = n->Call("DequantizeLinear", {table, n->In(2), zeros},
                  {OnnxInt("axis", n->Int("quantize_axis", 1)),
                   OnnxInt("block_size", n->Int("block_size", 128))});
  n->Forward(0, n->Call("Gather", {table, n->In(1)}, {OnnxInt("axis", n->Int("gather_axis", 0))}));
}

// Scales or zero points of numbers of narrow floating point, one for all elements or one for each index of the
// axis, as X is broadcast with them.
std::string Spread(OnnxNode* n, size_t i) {
  CAFFE_ENFORCE(n->Int("block_size", 0) == 0,
                "block_size is given, which is not supported for floating point of 8 bits or less");
  const std::string& parameters = n->In(i);
  if (n->Rank(parameters) == 0 || n->Dims(parameters) == OnnxDims{1}) return parameters;
  const std::string& x = n->In(0);
  OnnxDims dims(static_cast<size_t>(n->Rank(x)), 1);
  dims[static_cast<size_t>(n->Axis(x, n->Int("axis", 1)))] = -1;
  return n->Reshape(parameters, dims);
}

// Integers by the operator of int8 or uint8, whose range is larger; floating point is rounded only once.
void EmitNarrowQuantized(OnnxNode* n, NarrowFormat format) {
  if (!IsNarrowInteger(format)) {
    std::string x = n->Value("Div", {n->Cast(n->In(0), Proto::FLOAT), Spread(n, 1)});
    if (n->Has(2)) x = n->Value("Add", {x, Spread(n, 2)});
    return n->Emit("ONNXNarrow", {x}, {n->Out(0)},
                   {MakeArgument("format", std::string(NarrowFormatName(format))),
                    MakeArgument("saturate", n->Int("saturate", 1) != 0)});
  }
  const int wide = IsNarrowSigned(format) ? Proto::INT8 : Proto::UINT8;
  const int numbers = 1 << NarrowBits(format), low = IsNarrowSigned(format) ? -numbers / 2 : 0;
  OnnxNodeData data = n->data();
  data.outputs = {n->NewName("wide")};
  OnnxNode inner(&data, &n->nets(), n->translator());
  EmitSame(&inner, "QuantizeLinear", {"precision"});
  n->Emit("ONNXClip",
          {data.outputs[0], n->ScalarConst("low", low, wide),
           n->ScalarConst("high", low + numbers - 1, wide)},
          {n->Out(0)});
}

void TranslateQuantizeLinear(OnnxNode* n) {
  const int64_t precision = n->Int("precision", 0);
  CAFFE_ENFORCE(precision == 0 || precision == Proto::FLOAT, "precision is ", precision,
                ", want FLOAT: other divisions are not supported");
  const int type = n->Has(2) ? n->Type(n->In(2)) : static_cast<int>(n->Int("output_dtype", 0));
  const std::optional<NarrowFormat> format = NarrowFormatOf(type);
  if (!format.has_value()) return EmitSame(n, "QuantizeLinear", {"precision"});
  EmitNarrowQuantized(n, *format);
  n->SetType(n->Out(0), type);
}

void TranslateDequantizeLinear(OnnxNode* n) {
  const std::optional<NarrowFormat> format = NarrowFormatOf(n->Type(n->In(0)));
  if (!format.has_value() || IsNarrowInteger(*format)) return EmitSame(n, "DequantizeLinear");
  std::string x = n->In(0);
  if (n->Has(2)) x = n->Value("Sub", {x, Spread(n, 2)});
  n->Emit("Mul", {x, Spread(n, 1)}, {n->Out(0)});
}

}  // namespace

std::vector<OnnxRow> OnnxQuantizedRows() {
  return {
      {"ConvInteger", [](OnnxNode* n) { EmitSame(n, "ConvInteger"); }},
      {"DequantizeLinear", &TranslateDequantizeLinear},
      {"DynamicQuantizeLinear", nullptr, "DynamicQuantizeLinear"},
      {"DynamicQuantizeLSTM", &TranslateDynamicQuantizeLSTM, "", false, kMicrosoft},
      {"DynamicQuantizeMatMul", &TranslateDynamicQuantizeMatMul, "", false, kMicrosoft},
      {"GatherBlockQuantized", &TranslateGatherBlockQuantized, "", false, kMicrosoft},
      {"MatMulInteger", [](OnnxNode* n) { EmitSame(n, "MatMulInteger"); }},
      {"MatMulIntegerToFloat", &TranslateMatMulIntegerToFloat, "", false, kMicrosoft},
      {"MatMulNBits", &TranslateMatMulNBits, "", false, kMicrosoft},
      {"QGemm", &TranslateQGemm, "", false, kMicrosoft},
      {"QLinearConv", [](OnnxNode* n) { EmitSame(n, "QLinearConv"); }},
      {"QLinearMatMul", nullptr, "QLinearMatMul"},
      {"QuantizeLinear", &TranslateQuantizeLinear},
  };
}

}  // namespace caffe2rt
