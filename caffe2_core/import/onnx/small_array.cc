#include "caffe2_core/import/onnx/small_array.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

OnnxDims StridesOf(const OnnxDims& dims) {
  OnnxDims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// --- elementwise ---

struct PairFunction {
  std::optional<int64_t> (*ints)(int64_t, int64_t);
  std::optional<double> (*reals)(double, double);
  bool compares = false;
};

uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }
std::optional<int64_t> Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

const std::map<std::string_view, PairFunction>& Binaries() {
  using I = std::optional<int64_t>;
  using R = std::optional<double>;
  static const std::map<std::string_view, PairFunction> table = {
      {"Add",
       {[](int64_t a, int64_t b) { return Wrapped(Bits(a) + Bits(b)); },
        [](double a, double b) -> R { return a + b; }}},
      {"Sub",
       {[](int64_t a, int64_t b) { return Wrapped(Bits(a) - Bits(b)); },
        [](double a, double b) -> R { return a - b; }}},
      {"Mul",
       {[](int64_t a, int64_t b) { return Wrapped(Bits(a) * Bits(b)); },
        [](double a, double b) -> R { return a * b; }}},
      {"Div",
       {[](int64_t a, int64_t b) -> I {
          if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return {};
          return a / b;
        },
        [](double a, double b) -> R { return a / b; }}},
      {"Mod",
       {[](int64_t a, int64_t b) -> I {
          if (b == 0 || b == -1) return {};
          const int64_t rest = a % b;
          return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        },
        nullptr}},
      {"Equal",
       {[](int64_t a, int64_t b) -> I { return a == b; },
        [](double a, double b) -> R { return a == b; }, true}},
      {"Less",
       {[](int64_t a, int64_t b) -> I { return a < b; },
        [](double a, double b) -> R { return a < b; }, true}},
      {"LessOrEqual",
       {[](int64_t a, int64_t b) -> I { return a <= b; },
        [](double a, double b) -> R { return a <= b; }, true}},
      {"Greater",
       {[](int64_t a, int64_t b) -> I { return a > b; },
        [](double a, double b) -> R { return a > b; }, true}},
      {"GreaterOrEqual",
       {[](int64_t a, int64_t b) -> I { return a >= b; },
        [](double a, double b) -> R { return a >= b; }, true}},
      {"And", {[](int64_t a, int64_t b) -> I { return a != 0 && b != 0; }, nullptr}},
      {"Or", {[](int64_t a, int64_t b) -> I { return a != 0 || b != 0; }, nullptr}},
      {"Xor", {[](int64_t a, int64_t b) -> I { return (a != 0) != (b != 0); }, nullptr}},
      {"Max", {[](int64_t a, int64_t b) -> I { return std::max(a, b); }, nullptr}},
      {"Min", {[](int64_t a, int64_t b) -> I { return std::min(a, b); }, nullptr}}};
  return table;
}

OnnxArrayResult FoldPair(const PairFunction& binary, const OnnxArray& a, const OnnxArray& b) {
  const std::optional<OnnxDims> dims = OnnxBroadcastDims(a.dims, b.dims);
  if (!dims.has_value() || a.type != b.type) return std::nullopt;
  const auto left = OnnxBroadcastPositions(a.dims, *dims),
             right = OnnxBroadcastPositions(b.dims, *dims);
  if (!left.has_value() || !right.has_value()) return std::nullopt;
  if (a.real() && binary.reals == nullptr) return std::nullopt;
  OnnxArray out = {.type = binary.compares ? static_cast<int>(Proto::BOOL) : a.type, .dims = *dims};
  for (size_t i = 0; i < left->size(); ++i) {
    const size_t x = (*left)[i], y = (*right)[i];
    if (a.real()) {
      const std::optional<double> value = binary.reals(a.reals[x], b.reals[y]);
      if (out.real()) {
        out.reals.push_back(RoundOnnxReal(out.type, *value));
      } else {
        out.ints.push_back(*value != 0);
      }
    } else {
      const std::optional<int64_t> value = binary.ints(a.ints[x], b.ints[y]);
      if (!value.has_value()) return std::nullopt;
      out.ints.push_back(WrapOnnxInteger(out.type, *value));
    }
  }
  return out;
}

OnnxArrayResult FoldBinary(const PairFunction& binary, const OnnxArrays& in) {
  OnnxArrayResult out = *in[0];
  for (size_t i = 1; i < in.size() && out.has_value(); ++i) {
    if (in[i] == nullptr) return std::nullopt;
    out = FoldPair(binary, *out, *in[i]);
  }
  return out;
}

OnnxArrayResult FoldUnary(std::string_view type, const OnnxArray& x) {
  OnnxArray out = x;
  const auto map_reals = [&](double (*function)(double)) {
    for (double& value : out.reals) value = RoundOnnxReal(x.type, function(value));
  };
  if (type == "Not") {
    for (int64_t& value : out.ints) value = static_cast<int64_t>(value == 0);
  } else if (type == "Neg") {
    for (int64_t& value : out.ints)
      value = WrapOnnxInteger(x.type, static_cast<int64_t>(-static_cast<uint64_t>(value)));
    map_reals([](double v) { return -v; });
  } else if (type == "Abs") {
    for (int64_t& value : out.ints) {
      if (value < 0)
        value = WrapOnnxInteger(x.type, static_cast<int64_t>(-static_cast<uint64_t>(value)));
    }
    map_reals([](double v) { return std::fabs(v); });
  } else if (!x.real()) {
    return std::nullopt;
  } else if (type == "Floor") {
    map_reals([](double v) { return std::floor(v); });
  } else if (type == "Ceil") {
    map_reals([](double v) { return std::ceil(v); });
  } else {
    map_reals([](double v) { return std::sqrt(v); });
  }
  return out;
}

}  // namespace

std::optional<int64_t> SmallOnnxSize(const OnnxDims& dims) {
  int64_t size = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim > kMaxOnnxContent) return std::nullopt;
    size *= dim;
    if (size > kMaxOnnxContent) return std::nullopt;
  }
  return size;
}

double RoundOnnxReal(int type, double value) {
  return type == Proto::DOUBLE ? value : static_cast<double>(static_cast<float>(value));
}

int64_t WrapOnnxInteger(int type, int64_t value) {
  switch (type) {
    case Proto::INT32:
      return static_cast<int32_t>(value);
    case Proto::UINT32:
      return static_cast<uint32_t>(value);
    case Proto::INT16:
      return static_cast<int16_t>(value);
    case Proto::INT8:
      return static_cast<int8_t>(value);
    case Proto::UINT8:
      return static_cast<uint8_t>(value);
    case Proto::UINT16:
      return static_cast<uint16_t>(value);
    case Proto::BOOL:
      return value != 0;
    default:
      return value;
  }
}

std::optional<std::vector<size_t>> OnnxBroadcastPositions(const OnnxDims& from,
                                                          const OnnxDims& dims) {
  const std::optional<int64_t> size = SmallOnnxSize(dims);
  if (!size.has_value() || from.size() > dims.size()) return std::nullopt;
  const OnnxDims strides = StridesOf(from);
  const size_t shift = dims.size() - from.size();
  std::vector<size_t> positions(static_cast<size_t>(*size));
  for (int64_t i = 0; i < *size; ++i) {
    int64_t rest = i, position = 0;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int64_t at = rest % dims[axis];
      rest /= dims[axis];
      if (axis < shift) continue;
      const int64_t dim = from[axis - shift];
      if (dim != 1 && dim != dims[axis]) return std::nullopt;
      position += dim == 1 ? 0 : at * strides[axis - shift];
    }
    positions[static_cast<size_t>(i)] = static_cast<size_t>(position);
  }
  return positions;
}

std::optional<OnnxDims> OnnxBroadcastDims(const OnnxDims& a, const OnnxDims& b) {
  OnnxDims dims(std::max(a.size(), b.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    dims[dims.size() - 1 - i] = x == 1 ? y : x;
  }
  return dims;
}

bool IsOnnxUnary(std::string_view type) {
  constexpr std::string_view kTypes[] = {"Not", "Neg", "Abs", "Floor", "Ceil", "Sqrt"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool IsOnnxBinary(std::string_view type) { return Binaries().contains(type); }

OnnxArrayResult ComputeOnnxUnary(std::string_view type, const OnnxArray& x) {
  return FoldUnary(type, x);
}

OnnxArrayResult ComputeOnnxBinary(std::string_view type, const OnnxArrays& in) {
  return FoldBinary(Binaries().at(type), in);
}

}  // namespace caffe2rt
