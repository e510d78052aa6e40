#include "operators/primitives/activation.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "operators/primitives/float_lanes.h"

namespace caffe2rt {

namespace {

constexpr std::pair<const char*, Activation::Kind> kNames[] = {
    {"", Activation::Kind::kNone},     {"Relu", Activation::Kind::kRelu},
    {"Clip", Activation::Kind::kClip}, {"LeakyRelu", Activation::Kind::kLeakyRelu},
    {"Elu", Activation::Kind::kElu},   {"Sigmoid", Activation::Kind::kSigmoid},
    {"Tanh", Activation::Kind::kTanh}, {"Swish", Activation::Kind::kSwish},
    {"Gelu", Activation::Kind::kGelu}, {"FastGelu", Activation::Kind::kFastGelu},
};

// Functions of one vector, in place. The formulas do not differ between lanes.
template <class L>
struct VectorFunctions {
  using Vector = typename L::Vector;

  [[gnu::always_inline]] static void Exp(Vector& v) {
    math::internal::ReplaceByExp<Vector, typename L::IntVector>(v, -104.0f);
  }
  [[gnu::always_inline]] static void Tanh(Vector& x) {
    const Vector size = x < 0.0f ? -x : x;
    const Vector z = x * x;
    Vector p = z * -5.70498872745e-3f + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const Vector near = p * z * x + x;
    Vector e = size + size;
    Exp(e);
    const Vector far = 1.0f - 2.0f / (e + 1.0f);
    const Vector signed_far = x < 0.0f ? -far : far;
    x = size < 0.625f ? near : signed_far;
  }
  [[gnu::always_inline]] static void Sigmoid(Vector& x) {
    Vector e = -x;
    Exp(e);
    x = 1.0f / (1.0f + e);
  }
  [[gnu::always_inline]] static void Swish(Vector& x) {
    Vector e = -x;
    Exp(e);
    x = x / (1.0f + e);
  }
  [[gnu::always_inline]] static void Elu(float alpha, Vector& x) {
    Vector e = x;
    Exp(e);
    e = alpha * (e - 1.0f);
    x = x < 0.0f ? e : x;
  }
  [[gnu::always_inline]] static void Clip(float min, float max, Vector& x) {
    x = x < min ? Vector{} + min : x;
    x = x > max ? Vector{} + max : x;
  }
  [[gnu::always_inline]] static void Gelu(Vector& x) {
    Vector e = x * 0.70710678118654752f;
    math::internal::ReplaceByErf(e);
    x = x * (0.5f + 0.5f * e);
  }
  [[gnu::always_inline]] static void FastGelu(Vector& x) {
    Vector t = 0.79788456080286536f * (x + 0.044715f * x * x * x);
    Tanh(t);
    x = x * (0.5f + 0.5f * t);
  }
};

template <class L, class Function>
[[gnu::always_inline]] inline void FinishRow(const float* bias, int64_t n, float* y,
                                             const Function& function) {
  typename L::Vector v;
  int64_t i = 0;
  for (; i + L::kWidth <= n; i += L::kWidth) {
    v = L::At(y + i).lanes;
    if (bias != nullptr) v += L::At(bias + i).lanes;
    function(v);
    L::At(y + i).lanes = v;
  }
  if (i == n) return;
  alignas(64) float rest[2][L::kWidth] = {};
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(float);
  std::memcpy(rest[0], y + i, bytes);
  if (bias != nullptr) std::memcpy(rest[1], bias + i, bytes);
  v = L::At(rest[0]).lanes;
  if (bias != nullptr) v += L::At(rest[1]).lanes;
  function(v);
  L::At(rest[0]).lanes = v;
  std::memcpy(y + i, rest[0], bytes);
}

// Arguments of FinishRows.
struct Rows {
  const float* bias;
  Activation activation;
  int64_t m, n;
  float* y;
  int64_t ldy;
};

template <class L>
[[gnu::always_inline]] inline void FinishBody(const Rows& rows) {
  using Vector = typename L::Vector;
  using Functions = VectorFunctions<L>;
  using Kind = Activation::Kind;
  const auto apply = [&](const auto& function) __attribute__((always_inline)) {
    for (int64_t i = 0; i < rows.m; ++i) {
      FinishRow<L>(rows.bias, rows.n, rows.y + i * rows.ldy, function);
    }
  };
#define CAFFE2RT_ON_VECTOR(code) \
  [&](Vector & v) __attribute__((always_inline)) { code; }
  const Activation& f = rows.activation;
  switch (f.kind) {
    case Kind::kNone:
      return apply(CAFFE2RT_ON_VECTOR((void)v));
    case Kind::kRelu:
      return apply(CAFFE2RT_ON_VECTOR(v = v < 0.0f ? Vector{} : v));
    case Kind::kClip:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Clip(f.min, f.max, v)));
    case Kind::kLeakyRelu:
      return apply(CAFFE2RT_ON_VECTOR(v = v < 0.0f ? f.alpha * v : v));
    case Kind::kElu:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Elu(f.alpha, v)));
    case Kind::kSigmoid:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Sigmoid(v)));
    case Kind::kTanh:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Tanh(v)));
    case Kind::kSwish:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Swish(v)));
    case Kind::kGelu:
      return apply(CAFFE2RT_ON_VECTOR(Functions::Gelu(v)));
    case Kind::kFastGelu:
      return apply(CAFFE2RT_ON_VECTOR(Functions::FastGelu(v)));
  }
#undef CAFFE2RT_ON_VECTOR
}

CAFFE2RT_TARGET_AVX512 void FinishAvx512(const Rows& rows) { FinishBody<Avx512Lanes>(rows); }
CAFFE2RT_TARGET_AVX2 void FinishAvx2(const Rows& rows) { FinishBody<Avx2Lanes>(rows); }
void FinishPlain(const Rows& rows) { FinishBody<PlainLanes>(rows); }

}  // namespace

bool Activation::IsName(const std::string& name) {
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const auto& entry) { return name == entry.first; });
}

Activation::Kind Activation::Parse(const std::string& name) {
  for (const auto& [known, kind] : kNames) {
    if (name == known) return kind;
  }
  CAFFE_THROW("activation \"", name, "\" is not known, want ", kActivationNames);
}

bool Activation::FindBounds(float* lowest, float* highest) const {
  *lowest = -std::numeric_limits<float>::infinity();
  *highest = std::numeric_limits<float>::infinity();
  switch (kind) {
    case Kind::kNone:
      return true;
    case Kind::kRelu:
      *lowest = 0;
      return true;
    case Kind::kClip:
      *lowest = min;
      *highest = max;
      return true;
    default:
      return false;
  }
}

void FinishRows(const float* bias, const Activation& activation, int64_t m, int64_t n, float* y,
                int64_t ldy) {
  if (bias == nullptr && activation.kind == Activation::Kind::kNone) return;
  PickByIsa(FinishAvx512, FinishAvx2, FinishPlain)({bias, activation, m, n, y, ldy});
}

}  // namespace caffe2rt
