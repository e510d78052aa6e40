// Functions of one element, arithmetic, comparisons, logic, casts.

#include <cmath>
#include <limits>

#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/same_operator.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// --- functions of one element ---

template <size_t kSize>
struct Text {
  char chars[kSize];
  constexpr Text(const char (&text)[kSize]) {  // NOLINT: converts
    for (size_t i = 0; i < kSize; ++i) chars[i] = text[i];
  }
};

// The operator on one input, in a type that it has.
template <Text kOp>
void Unary(OnnxNode* n) {
  n->EmitTyped(kOp.chars, {n->In(0)}, n->Out(0));
}

// With broadcasting.
template <Text kOp>
void Binary(OnnxNode* n) {
  n->EmitTyped(kOp.chars, {n->In(0), n->In(1)}, n->Out(0));
}

void TranslateElu(OnnxNode* n) {
  n->Emit("Elu", {n->In(0)}, {n->Out(0)}, {MakeArgument("alpha", n->Float("alpha", 1))});
}

void TranslateGelu(OnnxNode* n) {
  n->Emit("Gelu", {n->In(0)}, {n->Out(0)},
          {MakeArgument("fast_gelu", n->Text("approximate", "none") == "tanh")});
}

void TranslateHardSigmoid(OnnxNode* n) {
  n->Emit("HardSigmoid", {n->In(0)}, {n->Out(0)},
          {MakeArgument("alpha", n->Float("alpha", 0.2f)),
           MakeArgument("beta", n->Float("beta", 0.5f))});
}

void TranslateHardSwish(OnnxNode* n) {
  const std::string gate = n->Value("HardSigmoid", {n->In(0)},
                                    {MakeArgument("alpha", 1.0f / 6), MakeArgument("beta", 0.5f)});
  n->Emit("Mul", {n->In(0), gate}, {n->Out(0)});
}

void TranslateLeakyRelu(OnnxNode* n) {
  n->Emit("LeakyRelu", {n->In(0)}, {n->Out(0)}, {MakeArgument("alpha", n->Float("alpha", 0.01f))});
}

// Relu has no kernels for numbers of 32 bits and more beside floats.
void TranslateRelu(OnnxNode* n) {
  const std::string& x = n->In(0);
  for (const int type : {Proto::DOUBLE, Proto::INT32, Proto::INT64, Proto::UINT32, Proto::UINT64}) {
    if (n->Type(x) == type)
      return n->Emit("ONNXMax", {x, n->ScalarConst("zero", 0, type)}, {n->Out(0)});
  }
  n->EmitTyped("Relu", {x}, n->Out(0));
}

void TranslateSelu(OnnxNode* n) {
  n->Emit("Selu", {n->In(0)}, {n->Out(0)},
          {MakeArgument("alpha", n->Float("alpha", 1.67326319217681884765625f)),
           MakeArgument("scale", n->Float("gamma", 1.05070102214813232421875f))});
}

void TranslateSwish(OnnxNode* n) {
  const float alpha = n->Float("alpha", 1);
  if (alpha == 1) return n->Emit("Swish", {n->In(0)}, {n->Out(0)});
  const std::string scaled = n->Value("Mul", {n->In(0), n->FloatConst("alpha", alpha)});
  n->Emit("Mul", {n->In(0), n->Value("Sigmoid", {scaled})}, {n->Out(0)});
}

void TranslateThresholdedRelu(OnnxNode* n) {
  n->Emit("ThresholdedRelu", {n->In(0)}, {n->Out(0)},
          {MakeArgument("alpha", n->Float("alpha", 1))});
}

void TranslateCelu(OnnxNode* n) {
  const float alpha = n->Float("alpha", 1);
  if (alpha == 1) return n->Emit("Elu", {n->In(0)}, {n->Out(0)}, {MakeArgument("alpha", 1.0f)});
  const std::string x = n->Value("Div", {n->In(0), n->FloatConst("alpha", alpha)});
  const std::string y = n->Value("Elu", {x}, {MakeArgument("alpha", 1.0f)});
  n->Emit("Mul", {y, n->FloatConst("alpha", alpha)}, {n->Out(0)});
}

void TranslateClip(OnnxNode* n) {
  const std::string& x = n->In(0);
  const bool known = (!n->Has(1) || n->IsKnown(1)) && (!n->Has(2) || n->IsKnown(2));
  if (known && n->Type(x) == Proto::FLOAT) {
    const float low = n->FloatOr(1, std::numeric_limits<float>::lowest());
    const float high = n->FloatOr(2, std::numeric_limits<float>::max());
    return n->Emit("Clip", {x}, {n->Out(0)}, {MakeArgument("min", low), MakeArgument("max", high)});
  }
  EmitSame(n, "ONNXClip");
}

// Negative parts times the slope, which is broadcast to the input.
void TranslatePRelu(OnnxNode* n) {
  const std::string &x = n->In(0), &slope = n->In(1);
  if (n->HasDims(slope) && n->HasRank(x) && n->Type(x) == Proto::FLOAT) {
    OnnxDims dims = n->Dims(slope);
    const int64_t rank = n->Rank(x);
    const bool channels = static_cast<int64_t>(dims.size()) == rank - 1 && rank > 1 && rank < 6;
    bool others = true;
    for (size_t i = 1; i < dims.size(); ++i) others &= dims[i] == 1;
    if (channels && others) {
      return n->Emit("PRelu", {x, n->Reshape(slope, {-1})}, {n->Out(0)});
    }
  }
  const std::string zero = n->ScalarConst("zero", 0, n->Type(x));
  const std::string negative = n->TypedValue("Mul", {x, slope});
  const std::string is_negative = n->TypedValue("LT", {x, zero});
  n->EmitTyped("Where", {is_negative, negative, x}, n->Out(0));
}

void TranslateShrink(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int type = n->Type(x);
  const float lambd = n->Float("lambd", 0.5f), bias = n->Float("bias", 0);
  const std::string low = n->TypedValue("LT", {x, n->ScalarConst("low", -lambd, type)});
  const std::string high = n->TypedValue("GT", {x, n->ScalarConst("high", lambd, type)});
  const std::string offset = n->ScalarConst("bias", bias, type);
  const std::string below =
      n->TypedValue("Mul", {n->TypedValue("Add", {x, offset}), n->Cast(low, type)});
  const std::string above =
      n->TypedValue("Mul", {n->TypedValue("Sub", {x, offset}), n->Cast(high, type)});
  n->EmitTyped("Add", {below, above}, n->Out(0));
}

// --- arithmetic of several inputs ---

void TranslateSum(OnnxNode* n) {
  if (n->inputs() == 1) return n->Forward(0, n->In(0));
  std::string sum = n->In(0);
  for (size_t i = 1; i + 1 < n->inputs(); ++i) sum = n->TypedValue("Add", {sum, n->In(i)});
  n->EmitTyped("Add", {sum, n->In(n->inputs() - 1)}, n->Out(0));
}

void TranslateMean(OnnxNode* n) {
  std::string sum = n->In(0);
  for (size_t i = 1; i < n->inputs(); ++i) sum = n->TypedValue("Add", {sum, n->In(i)});
  if (n->inputs() == 1) return n->Forward(0, sum);
  n->EmitTyped("Div",
               {sum, n->ScalarConst("count", static_cast<double>(n->inputs()), n->Type(sum))},
               n->Out(0));
}

// Whether all inputs are floats of one known shape.
bool AreFloatsOfOneShape(OnnxNode* n) {
  for (const std::string& x : n->Ins()) {
    if (n->Type(x) != Proto::FLOAT || !n->HasDims(x) || n->Dims(x) != n->Dims(n->In(0)))
      return false;
  }
  return true;
}

// Caffe2's operators lose NaN of their second input, know no other types and do not broadcast.
template <Text kOp>
void Extremum(OnnxNode* n) {
  if (n->inputs() == 1) return n->Forward(0, n->In(0));
  n->Emit(kOp.chars, n->Ins(), {n->Out(0)});
}

void TranslatePow(OnnxNode* n) {
  const std::string& x = n->In(0);
  if (n->IsKnown(1) && n->Reals(1).size() == 1 && n->Type(x) == Proto::FLOAT &&
      n->HasRank(n->In(1)) && n->Rank(n->In(1)) == 0) {
    return n->Emit("Pow", {x}, {n->Out(0)}, {MakeArgument("exponent", n->FloatAt(1))});
  }
  n->Emit(AreFloatsOfOneShape(n) ? "Pow" : "ONNXPow", {x, n->In(1)}, {n->Out(0)});
}

// --- others ---

void TranslateCast(OnnxNode* n) {
  const int to = static_cast<int>(n->Int("to", 0));
  const std::string& x = n->In(0);
  if (n->KnowsType(x) && n->Type(x) == to) return n->Forward(0, x);
  if (IsRoundedOnnxType(to)) {
    const std::string wide = n->Cast(x, Proto::FLOAT);
    return n->Forward(0, n->nets().Round(wide, to, n->NewName("rounded"), n->data().name));
  }
  if (const std::optional<NarrowFormat> format = NarrowFormatOf(to); format.has_value()) {
    n->Emit("ONNXNarrow", {n->Cast(x, Proto::FLOAT)}, {n->Out(0)},
            {MakeArgument("format", std::string(NarrowFormatName(*format))),
             MakeArgument("saturate", n->Int("saturate", 1) != 0),
             MakeArgument("round_mode", n->Text("round_mode", "up"))});
    return n->SetType(n->Out(0), to);
  }
  if (to == Proto::FLOAT && n->KnowsType(x) && Caffe2TypeOf(n->Type(x)) == TensorProto::FLOAT) {
    n->Emit("Alias", {x}, {n->Out(0)});
    return n->SetType(n->Out(0), to);
  }
  n->Emit("Cast", {x}, {n->Out(0)}, {MakeArgument("to", static_cast<int>(Caffe2TypeOf(to)))});
  n->SetType(n->Out(0), to);
}

void TranslateCastLike(OnnxNode* n) {
  n->data().SetInt("to", n->Type(n->In(1)));
  TranslateCast(n);
}

void TranslateIsNaN(OnnxNode* n) {
  n->Emit("Cast", {n->Value("IsNaN", {n->In(0)})}, {n->Out(0)},
          {MakeArgument("to", static_cast<int>(TensorProto::BOOL))});
}

}  // namespace

std::vector<OnnxRow> OnnxElementwiseRows() {
  return {{"Abs", &Unary<"Abs">, "", true},
          {"Acos", &Unary<"Acos">},
          {"Acosh", &Unary<"Acosh">},
          {"Add", &Binary<"Add">},
          {"And", &Binary<"And">},
          {"Asin", &Unary<"Asin">},
          {"Asinh", &Unary<"Asinh">},
          {"Atan", &Unary<"Atan">},
          {"Atanh", &Unary<"Atanh">},
          {"BitShift", [](OnnxNode* n) { EmitSame(n, "BitShift"); }},
          {"BitwiseAnd", &Binary<"BitwiseAnd">},
          {"BitwiseNot", &Unary<"BitwiseNot">},
          {"BitwiseOr", &Binary<"BitwiseOr">},
          {"BitwiseXor", &Binary<"BitwiseXor">},
          {"Cast", &TranslateCast},
          {"CastLike", &TranslateCastLike},
          {"Ceil", &Unary<"Ceil">},
          {"Celu", &TranslateCelu},
          {"Clip", &TranslateClip, "", true},
          {"Cos", &Unary<"Cos">},
          {"Cosh", &Unary<"Cosh">},
          {"Div", &Binary<"Div">},
          {"Elu", &TranslateElu},
          {"Equal", &Binary<"EQ">},
          {"Erf", &Unary<"Erf">},
          {"Exp", &Unary<"Exp">},
          {"Floor", &Unary<"Floor">},
          {"Gelu", &TranslateGelu},
          {"Greater", &Binary<"GT">},
          {"GreaterOrEqual", &Binary<"GE">},
          {"HardSigmoid", &TranslateHardSigmoid},
          {"HardSwish", &TranslateHardSwish},
          {"IsInf", [](OnnxNode* n) { EmitSame(n, "IsInf"); }},
          {"IsNaN", &TranslateIsNaN},
          {"LeakyRelu", &TranslateLeakyRelu},
          {"Less", &Binary<"LT">},
          {"LessOrEqual", &Binary<"LE">},
          {"Log", &Unary<"Log">},
          {"Max", &Extremum<"ONNXMax">, "", true},
          {"Mean", &TranslateMean},
          {"Min", &Extremum<"ONNXMin">, "", true},
          {"Mish", &Unary<"Mish">},
          {"Mod", [](OnnxNode* n) { EmitSame(n, "ONNXMod"); }},
          {"Mul", &Binary<"Mul">},
          {"Neg", &Unary<"Negative">, "", true},
          {"Not", &Unary<"Not">},
          {"Or", &Binary<"Or">},
          {"Pow", &TranslatePow},
          {"PRelu", &TranslatePRelu},
          {"Reciprocal", &Unary<"Reciprocal">},
          {"Relu", &TranslateRelu, "", true},
          {"Round", &Unary<"Round">},
          {"Selu", &TranslateSelu},
          {"Shrink", &TranslateShrink},
          {"Sigmoid", &Unary<"Sigmoid">},
          {"Sign", &Unary<"Sign">, "", true},
          {"Sin", &Unary<"Sin">},
          {"Sinh", &Unary<"Sinh">},
          {"Softplus", &Unary<"Softplus">},
          {"Softsign", &Unary<"Softsign">},
          {"Sqrt", &Unary<"Sqrt">},
          {"Sub", &Binary<"Sub">},
          {"Sum", &TranslateSum},
          {"Swish", &TranslateSwish},
          {"Tan", &Unary<"Tan">},
          {"Tanh", &Unary<"Tanh">},
          {"ThresholdedRelu", &TranslateThresholdedRelu, "", true},
          {"Xor", &Binary<"Xor">}};
}

}  // namespace caffe2rt
