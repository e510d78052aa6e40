#include "caffe2_core/tensor/tensor_difference.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/number_types.h"
#include "caffe2_core/tensor/tensor_stats.h"

namespace caffe2rt {
namespace {

// The numbers that stored elements stand for: scale * (stored - zero_point).
struct Quantization {
  double scale = 1;
  double zero_point = 0;

  template <class T>
  double Value(T stored) const {
    double value;
    if constexpr (std::is_same_v<T, float16>) {
      value = static_cast<float>(stored);
    } else {
      value = static_cast<double>(stored);
    }
    return scale * (value - zero_point);
  }
};

// Adds pairs of elements to a difference.
class Comparison {
 public:
  Comparison(const Tolerance& tolerance, bool integers, TensorDifference* to)
      : absolute_(tolerance.absolute),
        relative_(integers ? 0 : tolerance.relative),
        nan_equals_nan_(tolerance.nan_equals_nan),
        to_(to) {}

  void Add(int64_t index, double first, double second) {
    Note(second);
    if (first == second) return;
    if (nan_equals_nan_ && std::isnan(first) && std::isnan(second)) return;
    AddDifference(index, std::abs(first - second), second);
  }
  // Counts the magnitude of an element of the second tensor.
  void Note(double second) {
    const double magnitude = std::abs(second);
    to_->signal += magnitude * magnitude;
    if (magnitude > to_->largest && std::isfinite(magnitude)) to_->largest = magnitude;
  }
  // The element `index` differs from `second` by `difference`.
  void AddDifference(int64_t index, double difference, double second) {
    if (difference == 0) return;
    to_->noise += difference * difference;
    const double magnitude = std::abs(second);
    const bool within = std::isfinite(magnitude) && difference <= absolute_ + relative_ * magnitude;
    to_->beyond += !within;
    if (std::isnan(difference) || std::isinf(magnitude)) {
      Raise(&to_->max_relative, difference);
    } else if (magnitude > 0) {
      Raise(&to_->max_relative, difference / magnitude);
    }
    if (Raise(&to_->max_absolute, difference)) to_->worst = index;
  }

 private:
  // NaN is above all numbers. Returns whether *value changed.
  static bool Raise(double* value, double to) {
    if (std::isnan(*value) || !(to > *value || std::isnan(to))) return false;
    *value = to;
    return true;
  }

  const double absolute_, relative_;
  const bool nan_equals_nan_;
  TensorDifference* const to_;
};

// 64-bit integers are subtracted as integers, because double rounds them.
template <class T>
void CompareIntegers(const T* a, const T* b, Comparison* comparison, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto [low, high] = std::minmax(a[i], b[i]);
    const uint64_t difference = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    comparison->Note(static_cast<double>(b[i]));
    comparison->AddDifference(i, static_cast<double>(difference), static_cast<double>(b[i]));
  }
}

template <class A, class B>
void CompareNumbers(const Tensor& first, const Tensor& second, const Quantization& of_first,
                    const Quantization& of_second, Comparison* comparison) {
  const A* const a = first.data<A>();
  const B* const b = second.data<B>();
  if constexpr (std::is_same_v<A, B> &&
                (std::is_same_v<A, int64_t> || std::is_same_v<A, uint64_t>)) {
    return CompareIntegers(a, b, comparison, first.numel());
  }
  for (int64_t i = 0; i < first.numel(); ++i) {
    comparison->Add(i, of_first.Value(a[i]), of_second.Value(b[i]));
  }
}

void CompareStrings(const Tensor& first, const Tensor& second, TensorDifference* to) {
  const auto *a = first.data<std::string>(), *b = second.data<std::string>();
  for (int64_t i = 0; i < first.numel(); ++i) {
    if (a[i] == b[i]) continue;
    if (to->worst < 0) to->worst = i;
    ++to->beyond;
  }
}

std::string TextOf(const std::string& what, const std::string& first, const std::string& second) {
  return MakeString(what, " ", first, " instead of ", second);
}

std::string StateOf(const Tensor& tensor) {
  if (!tensor.IsShaped()) return "a tensor without shape";
  return tensor.meta().IsSet() && tensor.HasData() ? "a tensor" : "a tensor without data";
}

// Why the tensors cannot be compared, or "".
std::string MismatchOf(const Tensor& first, const Tensor& second, bool any_type) {
  constexpr const char* kComparable = "a tensor";
  const std::string state = StateOf(first), wanted = StateOf(second);
  if (state != wanted) return MakeString(state, " instead of ", wanted);
  if (state != kComparable) return "";
  if (first.dims() != second.dims()) {
    return TextOf("shape", MakeString(first.sizes()), MakeString(second.sizes()));
  }
  const auto ignore = [](auto) {};
  const bool numbers =
      WithNumberType(first.meta(), ignore) && WithNumberType(second.meta(), ignore);
  if (first.meta() == second.meta() || (any_type && numbers)) return "";
  return TextOf("type", DataTypeName(first.meta()), DataTypeName(second.meta()));
}

bool IsIntegral(const Tensor& tensor) {
  bool integral = false;
  WithNumberType(tensor.meta(), [&]<class T>(std::type_identity<T>) { integral = !kHasNaN<T>; });
  return integral;
}

TensorDifference Compare(const Tensor& first, const Tensor& second, const Quantization* quantized,
                         const Tolerance& tolerance) {
  TensorDifference found;
  found.mismatch = MismatchOf(first, second, tolerance.any_type);
  if (!found.mismatch.empty() || !first.IsShaped() || !first.meta().IsSet() || !first.HasData()) {
    return found;
  }
  found.count = first.numel();
  const Tensor a = TensorOnCpu(first), b = TensorOnCpu(second);
  if (a.IsType<std::string>()) {
    CompareStrings(a, b, &found);
    return found;
  }
  Comparison comparison(tolerance, IsIntegral(a) && IsIntegral(b) && quantized == nullptr, &found);
  const Quantization plain[2];
  const Quantization* const of = quantized != nullptr ? quantized : plain;
  const auto compare = [&]<class A, class B>(std::type_identity<A>, std::type_identity<B>) {
    CompareNumbers<A, B>(a, b, of[0], of[1], &comparison);
  };
  WithNumberType(a.meta(), [&](auto type) {
    if (a.meta() == b.meta()) return compare(type, type);
    WithNumberType(b.meta(), [&](auto other) { compare(type, other); });
  });
  return found;
}

std::string TypeOf(const Blob& blob) {
  if (blob.IsType<Int8TensorCPU>()) return "a quantized tensor";
  if (blob.IsType<Tensor>()) return "a tensor";
  return blob.meta().IsSet() ? MakeString("type ", blob.meta().name()) : "nothing";
}

}  // namespace

double TensorDifference::SnrDb() const {
  if (noise == 0) return HUGE_VAL;
  if (!std::isfinite(signal) || !std::isfinite(noise)) return std::nan("");
  return 10 * std::log10(signal / noise);
}

TensorDifference CompareTensors(const Tensor& first, const Tensor& second,
                                const Tolerance& tolerance) {
  return Compare(first, second, nullptr, tolerance);
}

TensorDifference CompareBlobs(const Blob& first, const Blob& second, const Tolerance& tolerance) {
  const Tensor *const a = FindTensor(first), *const b = FindTensor(second);
  const bool same_kind =
      first.meta() == second.meta() || (tolerance.any_type && a != nullptr && b != nullptr);
  if (!same_kind) {
    return {.mismatch = MakeString(TypeOf(first), " instead of ", TypeOf(second))};
  }
  if (first.IsType<std::string>() && first.Get<std::string>() != second.Get<std::string>()) {
    return {.mismatch = "the strings differ"};
  }
  if (a == nullptr) return {};
  Quantization of[2];
  const auto read = [](const Blob& blob, Quantization* to) {
    if (!blob.IsType<Int8TensorCPU>()) return false;
    const auto& quantized = blob.Get<Int8TensorCPU>();
    *to = {.scale = quantized.scale, .zero_point = static_cast<double>(quantized.zero_point)};
    return true;
  };
  const bool first_quantized = read(first, &of[0]), second_quantized = read(second, &of[1]);
  return Compare(*a, *b, first_quantized || second_quantized ? of : nullptr, tolerance);
}

}  // namespace caffe2rt
