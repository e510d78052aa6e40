#pragma once
// The loops over the elements and rows that an optimizer updates (rules: update_rules.h).
//
//   UpdateAll(context_, n, rule);                              // element i, gradient i
//   UpdateRows(context_, sizes, indices, rule, &scratch_);     // the rows that indices name
//
// Rows with equal indices are updated one after the other in the order of the indices, on every
// device, so results do not differ between runs. The CPU divides large updates among threads; two
// threads never update the same row.
//
// An index out of range is an error. The CPU THROWS before it changes anything. On CUDA the index
// is skipped, and the next wait for the stream throws.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/optimizer/update_kernels.h"
#include "operators/optimizer/update_rules.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

namespace internal {

// The square of an element of the gradient of the row that starts at `i` in the parameters and at
// `g` in the gradient.
template <class Rule>
struct GradientSquare {
  const Rule& rule;
  int64_t i, g;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t k) const {
    const float d = rule.Gradient(i + k, g + k);
    return d * d;
  }
};

template <class Rule>
struct UpdateRange {
  Rule rule;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t first, int64_t last) const {
    const Rule r = rule;
    const float rate = r.Rate();
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = first; i < last; ++i) r(i, i, rate);
  }
};

// Updates a row of `block` elements, whose gradient starts at `g`.
template <class Rule>
CAFFE2RT_SIMD_INLINE inline void UpdateRow(const Rule& r, int64_t row, int64_t block, int64_t g,
                                           float rate) {
  const int64_t i = row * block;
  if constexpr (Rule::kPerRow) {
    const float squares = SumOfTerms(block, GradientSquare<Rule>{r, i, g});
    const float mean = squares / static_cast<float>(block);
    const float state = r.State(row, mean);
    r.SetState(row, state);
    const float factor = r.Factor(state, rate);
    CAFFE2RT_SIMD_LOOP
    for (int64_t k = 0; k < block; ++k) r(i + k, g + k, factor, rate);
  } else {
    CAFFE2RT_SIMD_LOOP
    for (int64_t k = 0; k < block; ++k) r(i + k, g + k, rate);
  }
}

// Updates the rows whose index leaves the remainder `piece` when divided by `pieces`.
template <class Rule, class Index>
struct UpdatePiece {
  Rule rule;
  RowSizes sizes;
  const Index* indices;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t piece, int64_t pieces) const {
    const Rule r = rule;
    const int64_t block = sizes.block;
    const float rate = r.Rate();
    for (int64_t j = 0; j < sizes.count; ++j) {
      const int64_t row = indices[j], g = j * block;
      if (pieces > 1 && row % pieces != piece) continue;
      UpdateRow(r, row, block, g, rate);
    }
  }
};

// Divides n elements into pieces that are worth a thread each.
inline int64_t UpdatePieces(int64_t n) {
  constexpr int64_t kLeastElements = 1 << 15;
  return std::clamp<int64_t>(n / kLeastElements, 1, GetNumThreads());
}

}  // namespace internal

template <class Rule>
void UpdateAll(CPUContext&, int64_t n, const Rule& rule) {
  if (n == 0) return;
  const internal::UpdateRange<Rule> range{rule};
  const int64_t pieces = internal::UpdatePieces(n);
  ParallelFor(static_cast<int>(pieces),
              [&](int piece) { RunSimd(range, n * piece / pieces, n * (piece + 1) / pieces); });
}

// Scratch memory of a context.
template <class Context>
struct RowScratch {
  Tensor keys{Context::GetDeviceType()}, places{Context::GetDeviceType()},
      temporary{Context::GetDeviceType()};
};
template <>
struct RowScratch<CPUContext> {};

// THROWS if an index is out of range.
template <class Index>
void RequireRows(const RowSizes& sizes, const Index* indices) {
  for (int64_t j = 0; j < sizes.count; ++j) {
    CAFFE_ENFORCE(indices[j] >= 0 && indices[j] < sizes.rows, "index ", indices[j], " at position ",
                  j, " is out of range, want at least 0 and below ", sizes.rows);
  }
}

template <class Index, class Rule>
void UpdateRows(CPUContext&, const RowSizes& sizes, const Index* indices, const Rule& rule,
                RowScratch<CPUContext>*) {
  if (sizes.count == 0 || sizes.block == 0) return;
  RequireRows(sizes, indices);
  const internal::UpdatePiece<Rule, Index> update{rule, sizes, indices};
  const int64_t pieces = internal::UpdatePieces(sizes.count * sizes.block);
  ParallelFor(static_cast<int>(pieces),
              [&](int piece) { RunSimd(update, int64_t{piece}, pieces); });
}

// Sorts the indices, which are int32_t or int64_t. Returns the sorted ones, in scratch->keys; their
// positions are in scratch->places.
struct SortedRows {
  const int64_t* keys;
  const int32_t* places;
};
template <class Index>
SortedRows SortRows(CUDAContext& context, const RowSizes& sizes, const Index* indices, Tensor* keys,
                    Tensor* places, Tensor* temporary);

template <class Index, class Rule>
void UpdateRows(CUDAContext& context, const RowSizes& sizes, const Index* indices, const Rule& rule,
                RowScratch<CUDAContext>* scratch) {
  if (sizes.count == 0 || sizes.block == 0) return;
  const SortedRows sorted =
      SortRows(context, sizes, indices, &scratch->keys, &scratch->places, &scratch->temporary);
  UpdateSortedRows(context, sizes, sorted.keys, sorted.places, rule);
}

}  // namespace caffe2rt
