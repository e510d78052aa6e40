#include "operators/int8/int8_product.h"

#include "caffe2_core/base/checked_math.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

void StartOfSums(const Int8Weights& weights, const int32_t* bias, int32_t zero_point,
                 int32_t* start) {
  const std::span<const int32_t> totals = weights.totals();
  for (size_t n = 0; n < totals.size(); ++n) {
    const bool has_bias = bias != nullptr && static_cast<int64_t>(n) < weights.n();
    start[n] = math::WrappingSubtract(has_bias ? bias[n] : 0,
                                      math::WrappingMultiply(zero_point, totals[n]));
  }
}

namespace {

// The number of floats that `bytes` need, rounded up to whole cache lines.
int64_t FloatsFor(int64_t bytes) {
  constexpr int64_t kFloat = sizeof(float);
  return AlignedFloats((bytes + kFloat - 1) / kFloat);
}

int64_t FloatsOfSums(const Int8Weights& weights) {
  return FloatsFor(CheckedMultiply(Int8Weights::kTile * static_cast<int64_t>(sizeof(int32_t)),
                                   weights.padded_n()));
}

}  // namespace

int64_t Int8ProductScratchSize(const Int8Weights& weights) {
  const int64_t rows = FloatsFor(CheckedMultiply(Int8Weights::kTile, weights.padded_k()));
  return CheckedAdd(CheckedAdd(FloatsOfSums(weights), FloatsFor(weights.ScratchBytes())), rows);
}

Int8ProductScratch DivideScratch(const Int8Weights& weights, float* memory) {
  float* const words = memory + FloatsOfSums(weights);
  return {.sums = reinterpret_cast<int32_t*>(memory),
          .words = words,
          .rows = reinterpret_cast<uint8_t*>(words + FloatsFor(weights.ScratchBytes()))};
}

}  // namespace caffe2rt
