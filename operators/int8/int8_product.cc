#include "operators/int8/int8_product.h"

#include "caffe2_core/base/checked_math.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

void StartOfSums(const Int8Weights& weights, const int32_t* bias, int32_t zero_point,
                 int32_t* start) {
  const std::vector<int32_t>& totals = weights.totals();
  for (size_t n = 0; n < totals.size(); ++n) {
    const bool has_bias = bias != nullptr && static_cast<int64_t>(n) < weights.n();
    start[n] = math::WrappingSubtract(has_bias ? bias[n] : 0,
                                      math::WrappingMultiply(zero_point, totals[n]));
  }
}

Int8ProductScratch TakeScratch(const Int8Weights& weights, ThreadScratch* scratch) {
  constexpr int64_t kFloat = sizeof(float);
  const auto floats = [](int64_t bytes) { return AlignedFloats((bytes + kFloat - 1) / kFloat); };
  const int64_t sums = floats(CheckedMultiply(
      Int8Weights::kTile * static_cast<int64_t>(sizeof(int32_t)), weights.padded_n()));
  const int64_t words = floats(weights.ScratchBytes());
  const int64_t rows = floats(CheckedMultiply(Int8Weights::kTile, weights.padded_k()));
  float* memory = scratch->Floats(CheckedAdd(CheckedAdd(sums, words), rows));
  return {.sums = reinterpret_cast<int32_t*>(memory),
          .words = memory + sums,
          .rows = reinterpret_cast<uint8_t*>(memory + sums + words)};
}

}  // namespace caffe2rt
