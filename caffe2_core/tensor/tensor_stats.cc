#include "caffe2_core/tensor/tensor_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/number_types.h"

namespace caffe2rt {
namespace {

// `Wide` is float for float16 and bfloat16, and T for all other types.
template <class T>
using Wide =
    std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <class T>
TensorStats StatsOf(const T* data, int64_t count) {
  TensorStats stats{.count = count};
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(static_cast<Wide<T>>(data[i]));
    if constexpr (kHasNaN<T>) {
      if (__builtin_expect(!std::isfinite(value), 0)) {
        if (stats.first_non_finite < 0) stats.first_non_finite = i;
        (std::isnan(value) ? stats.nan : stats.infinite) += 1;
        if (std::isnan(value)) continue;
      }
    }
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
  }
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const int64_t numbers = count - stats.nan;
  stats.min = numbers > 0 ? min : kNaN;
  stats.max = numbers > 0 ? max : kNaN;
  stats.mean = numbers > 0 ? sum / static_cast<double>(numbers) : kNaN;
  return stats;
}

bool HasElements(const Tensor& tensor) {
  return tensor.IsShaped() && tensor.meta().IsSet() && tensor.HasData();
}

}  // namespace

Tensor TensorOnCpu(const Tensor& tensor) {
  return tensor.GetDeviceType() == CPU ? tensor : Tensor(tensor, CPU);
}

std::optional<TensorStats> StatsOf(const Tensor& tensor) {
  if (!HasElements(tensor)) return std::nullopt;
  std::optional<TensorStats> stats;
  WithNumberType(tensor.meta(), [&]<class T>(std::type_identity<T>) {
    const Tensor on_cpu = TensorOnCpu(tensor);
    stats = StatsOf(on_cpu.data<T>(), on_cpu.numel());
  });
  return stats;
}

std::optional<TensorStats> StatsOf(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  if (tensor == nullptr) return std::nullopt;
  std::optional<TensorStats> stats = StatsOf(*tensor);
  if (!stats.has_value() || !blob.IsType<Int8TensorCPU>()) return stats;
  const auto& quantized = blob.Get<Int8TensorCPU>();
  for (double* value : {&stats->min, &stats->max, &stats->mean}) {
    *value = static_cast<double>(quantized.scale) * (*value - quantized.zero_point);
  }
  if (stats->min > stats->max) std::swap(stats->min, stats->max);  // the scale is negative
  return stats;
}

NonFinite NonFiniteIn(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  NonFinite found;
  if (tensor == nullptr || !HasElements(*tensor)) return found;
  WithNumberType(tensor->meta(), [&]<class T>(std::type_identity<T>) {
    if constexpr (kHasNaN<T>) {
      const Tensor on_cpu = TensorOnCpu(*tensor);
      const T* const data = on_cpu.data<T>();
      for (int64_t i = 0; i < on_cpu.numel(); ++i) {
        const auto value = static_cast<Wide<T>>(data[i]);
        found.nan |= std::isnan(value);
        found.infinite |= std::isinf(value);
      }
    }
  });
  return found;
}

}  // namespace caffe2rt
