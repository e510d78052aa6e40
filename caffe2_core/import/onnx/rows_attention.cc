// Attention and what belongs to it, by the rows of other operators.

#include <cmath>
#include <limits>
#include <optional>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr int64_t kMaxMask = int64_t{1} << 24;  // elements of a mask that the import makes

// The parts of an attention, each [batch, heads, length, size].
struct Attention {
  std::string q, k, v;
  int64_t q_heads = 0, kv_heads = 0, q_length = 0, kv_length = 0, past = 0;
  bool flat = false;  // the node has them as [batch, length, heads * size]
};

std::string HeadsApart(OnnxNode* n, const std::string& x, int64_t heads) {
  const OnnxDims dims = n->FixedDims(x);
  CAFFE_ENFORCE(heads > 0 && dims.at(2) % heads == 0, "an input of 3 axes has ", dims.at(2),
                " columns for ", heads, " heads");
  return n->Transpose(n->Reshape(x, {dims.at(0), dims.at(1), heads, dims.at(2) / heads}),
                      {0, 2, 1, 3});
}

// [h0, h1] -> [h0, h0, h1, h1]
std::string Repeated(OnnxNode* n, const std::string& x, int64_t times) {
  if (times == 1) return x;
  const OnnxDims d = n->FixedDims(x);
  const std::string apart = n->Reshape(x, {d.at(0), d.at(1), 1, d.at(2), d.at(3)});
  const std::string tiled = n->Call("Tile", {apart, n->IntConst("repeats", {1, 1, times, 1, 1})});
  return n->Reshape(tiled, {d.at(0), d.at(1) * times, d.at(2), d.at(3)});
}

Attention ReadAttention(OnnxNode* n) {
  Attention a = {.q = n->In(0), .k = n->In(1), .v = n->In(2)};
  a.flat = n->Rank(a.q) == 3;
  if (a.flat) {
    const int64_t kv_heads = n->Int("kv_num_heads", 0);
    a.q = HeadsApart(n, a.q, n->Int("q_num_heads", 0));
    a.k = HeadsApart(n, a.k, kv_heads);
    a.v = HeadsApart(n, a.v, kv_heads);
  }
  if (n->Has(4)) {
    a.past = n->FixedDim(n->In(4), 2);
    a.k = n->Call("Concat", {n->In(4), a.k}, {OnnxInt("axis", 2)});
    a.v = n->Call("Concat", {n->In(5), a.v}, {OnnxInt("axis", 2)});
  }
  a.q_heads = n->FixedDim(a.q, 1);
  a.kv_heads = n->FixedDim(a.k, 1);
  a.q_length = n->FixedDim(a.q, 2);
  a.kv_length = n->FixedDim(a.k, 2);
  CAFFE_ENFORCE(a.kv_heads > 0 && a.q_heads % a.kv_heads == 0, a.q_heads,
                " query heads, want a multiple of the ", a.kv_heads, " of keys and values");
  CAFFE_ENFORCE_LE(CheckedMultiply(a.q_length, a.kv_length), kMaxMask, "elements of a mask");
  return a;
}

// A bool for each query and key, from their distance: a function of i + past - j.
template <class Allowed>
std::string DistanceMask(OnnxNode* n, const Attention& a, const Allowed& allowed) {
  std::vector<double> values;
  for (int64_t i = 0; i < a.q_length; ++i) {
    for (int64_t j = 0; j < a.kv_length; ++j) {
      values.push_back(allowed(i + a.past - j) ? 0 : kMinusInfinity);
    }
  }
  return n->Const("mask", {a.q_length, a.kv_length}, n->Type(a.q), values);
}

std::string MaskOf(OnnxNode* n, const Attention& a, const std::string& allowed) {
  return n->Call("Where", {allowed, n->ScalarConst("zero", 0, n->Type(a.q)),
                           n->ScalarConst("masked", kMinusInfinity, n->Type(a.q))});
}

// [batch, 1, 1, 1]
std::string KeyCounts(OnnxNode* n) {
  return n->Reshape(n->Call("Cast", {n->In(6)}, {OnnxInt("to", Proto::INT64)}), {-1, 1, 1, 1});
}

// i + valid keys - queries - j for each batch, query and key.
std::string BatchDistances(OnnxNode* n, const Attention& a) {
  std::vector<double> values;
  for (int64_t i = 0; i < a.q_length; ++i) {
    for (int64_t j = 0; j < a.kv_length; ++j)
      values.push_back(static_cast<double>(i - a.q_length - j));
  }
  const std::string distances =
      n->Const("distances", {1, 1, a.q_length, a.kv_length}, Proto::INT64, values);
  return n->Call("Add", {distances, KeyCounts(n)});
}

std::string Added(OnnxNode* n, const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : n->Call("Add", {a, b});
}

// The mask that the node has, as numbers to add, for all keys.
std::string GivenMask(OnnxNode* n, const Attention& a) {
  if (!n->Has(3)) return "";
  std::string mask = n->In(3);
  const int64_t rank = n->Rank(mask), missing = a.kv_length - n->FixedDim(mask, -1);
  if (n->Type(mask) == Proto::BOOL) mask = MaskOf(n, a, mask);
  if (missing <= 0) return mask;
  std::vector<int64_t> pads(static_cast<size_t>(2 * rank), 0);
  pads.back() = missing;
  return n->Call("Pad", {mask, n->IntConst("pads", pads),
                         n->ScalarConst("masked", kMinusInfinity, n->Type(a.q))});
}

// The distances i + past - j that the attributes allow: [low, high].
struct Window {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  bool all() const { return *this == Window(); }
  bool operator==(const Window&) const = default;
};

Window WindowOf(const OnnxNode& n) {
  Window window;
  if (n.Int("right_window_size", -1) >= 0) window.low = -n.Int("right_window_size", -1);
  if (n.Int("left_window_size", -1) >= 0) window.high = n.Int("left_window_size", -1);
  if (n.Int("is_causal", 0) != 0) window.low = std::max<int64_t>(window.low, 0);
  return window;
}

std::string DistanceBias(OnnxNode* n, const Attention& a) {
  const Window window = WindowOf(*n);
  if (window.all()) return "";
  if (!n->Has(6)) {
    return DistanceMask(n, a, [&](int64_t d) { return d >= window.low && d <= window.high; });
  }
  const std::string distances = BatchDistances(n, a);
  std::string bias;
  const auto limit = [&](const char* compare, int64_t value) {
    const std::string number = n->ScalarConst("limit", static_cast<double>(value), Proto::INT64);
    bias = Added(n, bias, MaskOf(n, a, n->Call(compare, {distances, number})));
  };
  if (window.low > std::numeric_limits<int64_t>::min()) limit("GreaterOrEqual", window.low);
  if (window.high < std::numeric_limits<int64_t>::max()) limit("LessOrEqual", window.high);
  return bias;
}

std::string BiasOf(OnnxNode* n, const Attention& a) {
  std::string bias = Added(n, GivenMask(n, a), DistanceBias(n, a));
  if (!n->Has(6)) return bias;
  std::vector<int64_t> positions;
  for (int64_t j = 0; j < a.kv_length; ++j) positions.push_back(j);
  const std::string valid = n->Call("Less", {n->IntConst("positions", positions), KeyCounts(n)});
  return Added(n, bias, MaskOf(n, a, valid));
}

// Whether each query sees a key by the window alone.
bool AllSeeKeys(const OnnxNode& n, const Attention& a) {
  const Window window = WindowOf(n);
  return window.low >= 0 && a.q_length + a.past - a.kv_length <= window.high;
}

// Rows that may see no key are zero.
std::string Probabilities(OnnxNode* n, const Attention& a, const std::string& scores,
                          const std::string& bias) {
  const std::string softmax = n->Call("Softmax", {scores}, {OnnxInt("axis", -1)});
  if (bias.empty() || (!n->Has(3) && !n->Has(6) && AllSeeKeys(*n, a))) return softmax;
  const std::string highest =
      n->Call("ReduceMax", {bias, n->IntConst("axes", {-1})}, {OnnxInt("keepdims", 1)});
  const int type = n->Type(a.q);
  const std::string masked =
      n->Call("Equal", {highest, n->ScalarConst("masked", kMinusInfinity, type)});
  return n->Call("Where", {masked, n->ScalarConst("zero", 0, type), softmax});
}

void TranslateAttention(OnnxNode* n) {
  const Attention a = ReadAttention(n);
  const int type = n->Type(a.q);
  const std::string bias = BiasOf(n, a);
  const int64_t times = a.q_heads / a.kv_heads;
  const double size = static_cast<double>(n->FixedDim(a.q, 3));
  const double scale = n->HasAttr("scale") ? n->Float("scale", 1) : 1 / std::sqrt(size);
  const std::string root = n->ScalarConst("scale", std::sqrt(scale), type);
  const std::string keys = n->Transpose(Repeated(n, a.k, times), {0, 1, 3, 2});
  const std::string raw =
      n->Call("MatMul", {n->Call("Mul", {a.q, root}), n->Call("Mul", {keys, root})});
  std::string scores = raw;
  if (const float softcap = n->Float("softcap", 0); softcap > 0) {
    const std::string cap = n->ScalarConst("softcap", softcap, type);
    scores = n->Call("Mul", {n->Call("Tanh", {n->Call("Div", {scores, cap})}), cap});
  }
  const std::string capped = scores;
  if (!bias.empty()) scores = n->Call("Add", {scores, bias});
  const std::string probabilities = Probabilities(n, a, scores, bias);
  std::string y = n->Call("MatMul", {probabilities, Repeated(n, a.v, times)});
  if (a.flat) {
    const OnnxDims d = n->FixedDims(y);
    y = n->Reshape(n->Transpose(y, {0, 2, 1, 3}), {d.at(0), d.at(2), d.at(1) * d.at(3)});
  }
  n->Forward(0, y);
  n->Forward(1, a.k);
  n->Forward(2, a.v);
  const int64_t mode = n->Int("qk_matmul_output_mode", 0);
  n->Forward(3, mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? scores : probabilities);
}

// --- attention without softmax, one time step after the other ---

std::string InFloat(OnnxNode* n, const std::string& x) {
  return n->Call("Cast", {x}, {OnnxInt("to", Proto::FLOAT)});
}

// Step `t` of [batch, heads, time, size].
std::string StepOf(OnnxNode* n, const std::string& x, int64_t t) {
  return n->Call("Slice", {x, n->IntConst("start", {t}), n->IntConst("end", {t + 1}),
                           n->IntConst("axes", {2})});
}

// The inputs of a linear attention, each [batch, heads, time, size].
struct LinearAttention {
  std::string q, k, v, decay = {}, beta = {}, state = {};
  int64_t steps = 0, times = 1;
  float scale = 1;
};

LinearAttention ReadLinearAttention(OnnxNode* n) {
  const int64_t q_heads = n->Int("q_num_heads", 0), kv_heads = n->Int("kv_num_heads", 0);
  LinearAttention a = {.q = HeadsApart(n, InFloat(n, n->In(0)), q_heads),
                       .k = HeadsApart(n, InFloat(n, n->In(1)), kv_heads),
                       .v = HeadsApart(n, InFloat(n, n->In(2)), kv_heads)};
  CAFFE_ENFORCE(q_heads % kv_heads == 0, q_heads, " query heads, want a multiple of ", kv_heads);
  const std::string rule = n->Text("update_rule", "gated_delta");
  if (rule.starts_with("gated")) a.decay = HeadsApart(n, InFloat(n, n->In(4)), kv_heads);
  if (rule.ends_with("delta")) {
    const int64_t heads = n->FixedDim(n->In(5), 2);
    a.beta = HeadsApart(n, InFloat(n, n->In(5)), heads);
  }
  const OnnxDims q = n->FixedDims(a.q), v = n->FixedDims(a.v);
  a.steps = q.at(2);
  a.times = q_heads / kv_heads;
  a.scale = n->Float("scale", 0);
  if (a.scale == 0) a.scale = 1 / std::sqrt(static_cast<float>(q.at(3)));
  const OnnxDims dims = {q.at(0), kv_heads, q.at(3), v.at(3)};
  CAFFE_ENFORCE_LE(CheckedProduct(dims), kMaxMask, "elements of a state");
  a.state = n->Has(3) ? InFloat(n, n->In(3))
                      : n->Value("ConstantFill", {},
                                 {MakeArgument("shape", dims), MakeArgument("value", 0.0f)});
  return a;
}

// The output [batch, heads, 1, size] of a step; the state moves on.
std::string LinearStep(OnnxNode* n, int64_t t, LinearAttention* a) {
  const std::string key = n->Transpose(StepOf(n, a->k, t), {0, 1, 3, 2});  // a column
  std::string value = StepOf(n, a->v, t);
  if (!a->decay.empty()) {
    const std::string gate = n->Call("Exp", {n->Transpose(StepOf(n, a->decay, t), {0, 1, 3, 2})});
    a->state = n->Call("Mul", {a->state, gate});
  }
  if (!a->beta.empty()) {
    const std::string found = n->Call("MatMul", {n->Transpose(key, {0, 1, 3, 2}), a->state});
    value = n->Call("Mul", {StepOf(n, a->beta, t), n->Call("Sub", {value, found})});
  }
  a->state = n->Call("Add", {a->state, n->Call("Mul", {key, value})});
  const std::string read = Repeated(n, a->state, a->times);
  const std::string y = n->Call("MatMul", {StepOf(n, a->q, t), read});
  return n->Call("Mul", {y, n->ScalarConst("scale", a->scale, Proto::FLOAT)});
}

void TranslateLinearAttention(OnnxNode* n) {
  LinearAttention a = ReadLinearAttention(n);
  CAFFE_ENFORCE(a.steps > 0 && a.steps <= 4096, a.steps, " time steps, want 1 to 4096");
  std::vector<std::string> outputs;
  for (int64_t t = 0; t < a.steps; ++t) outputs.push_back(LinearStep(n, t, &a));
  std::string y =
      outputs.size() == 1 ? outputs[0] : n->Call("Concat", outputs, {OnnxInt("axis", 2)});
  const OnnxDims d = n->FixedDims(y);
  y = n->Reshape(n->Transpose(y, {0, 2, 1, 3}), {d.at(0), d.at(2), d.at(1) * d.at(3)});
  const int type = n->Type(n->In(0)), state_type = n->Has(3) ? n->Type(n->In(3)) : type;
  n->Forward(0, n->Call("Cast", {y}, {OnnxInt("to", type)}));
  n->Forward(1, n->Call("Cast", {a.state}, {OnnxInt("to", state_type)}));
}

// A convolution of each channel that sees what came before.
void TranslateCausalConvWithState(OnnxNode* n) {
  const std::string &x = n->In(0), &w = n->In(1);
  const OnnxDims dims = n->FixedDims(x), filter = n->FixedDims(w);
  CAFFE_ENFORCE(dims.size() == 3 && filter.size() == 3, "it has ", dims.size(), " and ",
                filter.size(), " axes, want 3 and 3");
  const int64_t before = filter.at(2) - 1;
  std::string padded = x;
  if (n->Has(3)) {
    padded = n->Call("Concat", {n->In(3), x}, {OnnxInt("axis", 2)});
  } else if (before > 0) {
    padded = n->Call("Pad", {x, n->IntConst("pads", {0, 0, before, 0, 0, 0})});
  }
  const std::string bias = n->Has(2) ? n->In(2) : "";
  std::string y = n->Call("Conv", {padded, w, bias}, {OnnxInt("group", dims.at(1))});
  const std::string activation = n->Text("activation", "none");
  if (activation != "none") y = n->Call("Swish", {y});
  n->Forward(0, y);
  n->Forward(1, n->Call("Slice", {padded, n->IntConst("start", {dims.at(2)}),
                                  n->IntConst("end", {INT64_MAX}), n->IntConst("axes", {2})}));
}

}  // namespace

std::vector<OnnxRow> OnnxAttentionRows() {
  return {{"Attention", &TranslateAttention},
          {"CausalConvWithState", &TranslateCausalConvWithState},
          {"LinearAttention", &TranslateLinearAttention, "", true}};
}

}  // namespace caffe2rt
