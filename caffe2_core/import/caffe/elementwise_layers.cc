// Layers that compute each element by itself, or from elements at the same place.

#include <cmath>

#include "caffe2_core/base/text.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

template <const char* const& kOperator>
void TranslateAs(CaffeLayerContext* c) {
  c->Emit(kOperator, {c->Bottom(0)}, {c->Top(0)});
}
constexpr const char* kAbs = "Abs";
constexpr const char* kSigmoid = "Sigmoid";
constexpr const char* kSoftplus = "Softplus";
constexpr const char* kTanh = "Tanh";

void TranslateAlias(CaffeLayerContext* c) {
  for (size_t i = 0; i < c->tops(); ++i) {
    if (c->Top(i) != c->Bottom(0)) c->Emit("Alias", {c->Bottom(0)}, {c->Top(i)});
  }
}

void TranslateRelu(CaffeLayerContext* c) {
  const float slope = c->Param("relu_param").Float("negative_slope", 0);
  if (slope == 0) return c->Emit("Relu", {c->Bottom(0)}, {c->Top(0)});
  c->Emit("LeakyRelu", {c->Bottom(0)}, {c->Top(0)}, {MakeArgument("alpha", slope)});
}

void EmitClip(CaffeLayerContext* c, float min, float max) {
  c->Emit("Clip", {c->Bottom(0)}, {c->Top(0)},
          {MakeArgument("min", min), MakeArgument("max", max)});
}

void TranslateRelu6(CaffeLayerContext* c) { EmitClip(c, 0, 6); }

void TranslateClip(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("clip_param");
  CAFFE_ENFORCE(param.Has("min") && param.Has("max"), "clip_param wants min and max");
  EmitClip(c, param.Float("min", 0), param.Float("max", 0));
}

void TranslatePrelu(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("prelu_param");
  const bool shared = param.Bool("channel_shared", false);
  int64_t slopes = 1;
  if (!shared && c->HasDims(c->Bottom(0))) {
    const CaffeDims dims = c->Dims(c->Bottom(0));
    CAFFE_ENFORCE(dims.size() > 1, "its bottom has ", dims.size(), " axes, want at least 2");
    slopes = dims[1];
  } else if (!shared) {
    slopes = c->BlobSize(0);
  }
  CaffeMessage filler = param.Message("filler").Copy();
  if (!filler.Has("value")) filler.Set("value", "0.25");
  const std::string slope = c->Parameter(0, "slope", {slopes}, filler);
  c->Emit("PRelu", {c->Bottom(0), slope}, {c->Top(0)});
}

void TranslateElu(CaffeLayerContext* c) {
  c->Emit("Elu", {c->Bottom(0)}, {c->Top(0)},
          {MakeArgument("alpha", c->Param("elu_param").Float("alpha", 1))});
}

void TranslateSwish(CaffeLayerContext* c) {
  const float beta = c->Param("swish_param").Float("beta", 1);
  const std::string& x = c->Bottom(0);
  if (beta == 1) return c->Emit("Swish", {x}, {c->Top(0)});
  const std::string scaled = c->Value("Scale", {x}, {MakeArgument("scale", beta)});
  c->Emit("Mul", {x, c->Value("Sigmoid", {scaled})}, {c->Top(0)});
}

void TranslateHardSigmoid(CaffeLayerContext* c) {
  c->Emit("HardSigmoid", {c->Bottom(0)}, {c->Top(0)},
          {MakeArgument("alpha", 1.0f / 6), MakeArgument("beta", 0.5f)});
}

void TranslateHardSwish(CaffeLayerContext* c) {
  const std::string gate = c->Value("HardSigmoid", {c->Bottom(0)},
                                    {MakeArgument("alpha", 1.0f / 6), MakeArgument("beta", 0.5f)});
  c->Emit("Mul", {c->Bottom(0), gate}, {c->Top(0)});
}

// scale * x + shift, without the operators that would do nothing.
std::string Affine(CaffeLayerContext* c, float scale, float shift) {
  std::string value = c->Bottom(0);
  if (scale != 1) value = c->Value("Scale", {value}, {MakeArgument("scale", scale)});
  if (shift != 0) value = c->Value("Add", {value, c->Constant("shift", shift)});
  return value;
}

void TranslatePower(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("power_param");
  const float power = param.Float("power", 1), scale = param.Float("scale", 1),
              shift = param.Float("shift", 0);
  const std::string& top = c->Top(0);
  if (power != 1) {
    return c->Emit("Pow", {Affine(c, scale, shift)}, {top}, {MakeArgument("exponent", power)});
  }
  if (shift == 0) {
    return c->Emit("Scale", {c->Bottom(0)}, {top}, {MakeArgument("scale", scale)});
  }
  c->Emit("Add", {Affine(c, scale, 0), c->Constant("shift", shift)}, {top});
}

// The natural logarithm of the field `base`, of which -1 stands for e.
float LogOfBase(const CaffeMessage& param) {
  const float base = param.Float("base", -1);
  CAFFE_ENFORCE(base == -1 || base > 0, "base is ", base, ", want more than 0, or -1 for e");
  return base == -1 ? 1 : std::log(base);
}

void TranslateExp(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("exp_param");
  const float log = LogOfBase(param);
  const std::string inner = Affine(c, param.Float("scale", 1) * log, param.Float("shift", 0) * log);
  c->Emit("Exp", {inner}, {c->Top(0)});
}

void TranslateLog(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("log_param");
  const float log = LogOfBase(param);
  CAFFE_ENFORCE(log != 0, "base is 1, want another");
  const std::string inner = Affine(c, param.Float("scale", 1), param.Float("shift", 0));
  if (log == 1) return c->Emit("Log", {inner}, {c->Top(0)});
  c->Emit("Scale", {c->Value("Log", {inner})}, {c->Top(0)}, {MakeArgument("scale", 1 / log)});
}

void TranslateThreshold(CaffeLayerContext* c) {
  const float threshold = c->Param("threshold_param").Float("threshold", 0);
  const std::string above = c->Value("GT", {c->Bottom(0), c->Constant("threshold", threshold)});
  c->Emit("Cast", {above}, {c->Top(0)}, {MakeArgument("to", static_cast<int>(TensorProto::FLOAT))});
}

// Writes the operator of two inputs over all bottoms, from the left.
void EmitChain(CaffeLayerContext* c, const char* type) {
  std::string value = c->Bottom(0);
  for (size_t i = 1; i + 1 < c->bottoms(); ++i) value = c->Value(type, {value, c->Bottom(i)});
  c->Emit(type, {value, c->Bottom(c->bottoms() - 1)}, {c->Top(0)});
}

void TranslateEltwise(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("eltwise_param");
  const int operation = param.Enum("operation", {"PROD", "SUM", "MAX"}, 1);
  const std::vector<float> coeffs = param.Floats("coeff");
  CAFFE_ENFORCE(c->bottoms() >= 2, "it has ", CountText(c->bottoms(), "bottom"),
                ", want at least 2");
  CAFFE_ENFORCE(coeffs.empty() || coeffs.size() == c->bottoms(), "it has ", coeffs.size(),
                " coefficients, want one for each of its ", c->bottoms(), " bottoms");
  CAFFE_ENFORCE(coeffs.empty() || operation != 0, "field coeff wants operation SUM");
  if (operation == 0) return EmitChain(c, "Mul");
  std::vector<std::string> inputs;
  for (size_t i = 0; i < c->bottoms(); ++i) {
    const bool scaled = operation == 1 && !coeffs.empty() && coeffs[i] != 1;
    inputs.push_back(scaled ? c->Value("Scale", {c->Bottom(i)}, {MakeArgument("scale", coeffs[i])})
                            : c->Bottom(i));
  }
  c->Emit(operation == 1 ? "Sum" : "Max", inputs, {c->Top(0)});
}

void TranslateAdd(CaffeLayerContext* c) { EmitChain(c, "Add"); }
void TranslateMul(CaffeLayerContext* c) { EmitChain(c, "Mul"); }

void TranslateAxpy(CaffeLayerContext* c) {
  const std::string product = c->Value("Mul", {c->Bottom(1), c->Bottom(0)});
  c->Emit("Add", {product, c->Bottom(2)}, {c->Top(0)});
}

void TranslateCrelu(CaffeLayerContext* c) {
  const std::string negative = c->Value("Negative", {c->Bottom(0)});
  const std::string both = c->Top(0) + "/both";
  c->Emit("Concat", {c->Bottom(0), negative}, {both, both + "/sizes"}, {MakeArgument("axis", 1)});
  c->Emit("Relu", {both}, {c->Top(0)});
}

}  // namespace

bool IsCaffeIdentity(std::string_view type) { return type == "Dropout" || type == "Split"; }

std::vector<CaffeLayerRow> CaffeElementwiseLayers() {
  using enum CaffeLayerKind;
  return {
      {"AbsVal", kTranslated, TranslateAs<kAbs>},
      {"Add", kTranslated, TranslateAdd},
      {"Axpy", kTranslated, TranslateAxpy},
      {"BNLL", kTranslated, TranslateAs<kSoftplus>},
      {"CReLU", kTranslated, TranslateCrelu},
      {"Clip", kTranslated, TranslateClip},
      {"Dropout", kTranslated, TranslateAlias},
      {"ELU", kTranslated, TranslateElu},
      {"Eltwise", kTranslated, TranslateEltwise},
      {"Exp", kTranslated, TranslateExp},
      {"HardSigmoid", kTranslated, TranslateHardSigmoid},
      {"HardSwish", kTranslated, TranslateHardSwish},
      {"Log", kTranslated, TranslateLog},
      {"Mul", kTranslated, TranslateMul},
      {"PReLU", kTranslated, TranslatePrelu},
      {"Power", kTranslated, TranslatePower},
      {"ReLU", kTranslated, TranslateRelu},
      {"ReLU6", kTranslated, TranslateRelu6},
      {"Sigmoid", kTranslated, TranslateAs<kSigmoid>},
      {"Split", kTranslated, TranslateAlias},
      {"Swish", kTranslated, TranslateSwish},
      {"TanH", kTranslated, TranslateAs<kTanh>},
      {"Threshold", kTranslated, TranslateThreshold},
  };
}

}  // namespace caffe2rt
