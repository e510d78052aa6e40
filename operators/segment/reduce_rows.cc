// The CPU kernels that reduce the rows of segments (segment_kernels.h).

#include <algorithm>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/elementary.h"
#include "operators/primitives/float_lanes.h"
#include "operators/segment/segment_kernels.h"

namespace caffe2rt {

namespace {

template <class T, class Index>
CAFFE2RT_SIMD_INLINE inline int64_t RowOf(const SegmentJob<T, Index>& job, int64_t i) {
  return job.indices != nullptr ? job.indices[i] : i;
}
template <class T, class Index>
CAFFE2RT_SIMD_INLINE inline float WeightOf(const SegmentJob<T, Index>& job, int64_t i,
                                           int64_t first) {
  if (job.weights == nullptr) return 1.0f;
  return job.weights[job.reduction == Reduction::kPositionalSum ? i - first : i];
}
template <class T, class Index>
CAFFE2RT_SIMD_INLINE inline float ScaleOf(const SegmentJob<T, Index>& job, int64_t first,
                                          int64_t last) {
  return job.reduction == Reduction::kMean && last > first ? 1.0f / static_cast<float>(last - first)
                                                           : 1.0f;
}

// --- sums of floats ---
// Rows that indices name are scattered in memory. They are requested this many positions ahead.
constexpr int64_t kAhead = 16;
constexpr int64_t kLineFloats = 16;

// Sums up kVectors vectors of columns, from column c on, of one segment. Indices and weights are
// template parameters, because a row of 64 floats takes only four vector additions.
template <class L, int kVectors, bool kIndexed, bool kWeighted, class Index>
[[gnu::always_inline]] inline void SumColumnsOf(const SegmentJob<float, Index>& job, int64_t s,
                                                int64_t c) {
  typename L::Vector sums[kVectors] = {};
  const int64_t first = job.offsets[s], last = job.offsets[s + 1];
  const int64_t last_position = job.positions - 1;
  for (int64_t i = first; i < last; ++i) {
    if constexpr (kIndexed) {
      const int64_t ahead = std::min(i + kAhead, last_position);
      const float* const next = job.data + job.indices[ahead] * job.block + c;
      for (int v = 0; v < kVectors * L::kWidth; v += kLineFloats) __builtin_prefetch(next + v);
    }
    const float* const row = job.data + (kIndexed ? job.indices[i] : i) * job.block + c;
    if constexpr (kWeighted) {
      const float weight = WeightOf(job, i, first);
      for (int v = 0; v < kVectors; ++v) sums[v] += L::At(row + v * L::kWidth).lanes * weight;
    } else {
      for (int v = 0; v < kVectors; ++v) sums[v] += L::At(row + v * L::kWidth).lanes;
    }
  }
  const float scale = ScaleOf(job, first, last);
  float* const out = job.out + s * job.block + c;
  for (int v = 0; v < kVectors; ++v) L::At(out + v * L::kWidth).lanes = sums[v] * scale;
}

template <class L, int kVectors, class Index>
[[gnu::always_inline]] inline void SumColumns(const SegmentJob<float, Index>& job, int64_t s,
                                              int64_t c) {
  if (job.weights != nullptr) {
    job.indices != nullptr ? SumColumnsOf<L, kVectors, true, true>(job, s, c)
                           : SumColumnsOf<L, kVectors, false, true>(job, s, c);
  } else {
    job.indices != nullptr ? SumColumnsOf<L, kVectors, true, false>(job, s, c)
                           : SumColumnsOf<L, kVectors, false, false>(job, s, c);
  }
}

template <class L, class Index>
[[gnu::always_inline]] inline void SumBody(const SegmentJob<float, Index>& job, int64_t from,
                                           int64_t to) {
  for (int64_t s = from; s < to; ++s) {
    int64_t c = 0;
    for (; c + 8 * L::kWidth <= job.block; c += 8 * L::kWidth) SumColumns<L, 8>(job, s, c);
    for (; c + 4 * L::kWidth <= job.block; c += 4 * L::kWidth) SumColumns<L, 4>(job, s, c);
    for (; c + L::kWidth <= job.block; c += L::kWidth) SumColumns<L, 1>(job, s, c);
    if constexpr (L::kWidth > 4) {
      for (; c + 4 <= job.block; c += 4) SumColumns<PlainLanes, 1>(job, s, c);
    }
    const int64_t first = job.offsets[s], last = job.offsets[s + 1];
    const float scale = ScaleOf(job, first, last);
    for (; c < job.block; ++c) {
      float sum = 0;
      for (int64_t i = first; i < last; ++i) {
        sum += job.data[RowOf(job, i) * job.block + c] * WeightOf(job, i, first);
      }
      job.out[s * job.block + c] = sum * scale;
    }
  }
}

template <class Index>
CAFFE2RT_TARGET_AVX512 void SumAvx512(const SegmentJob<float, Index>& job, int64_t from,
                                      int64_t to) {
  SumBody<Avx512Lanes>(job, from, to);
}
template <class Index>
CAFFE2RT_TARGET_AVX2 void SumAvx2(const SegmentJob<float, Index>& job, int64_t from, int64_t to) {
  SumBody<Avx2Lanes>(job, from, to);
}
template <class Index>
void SumPlain(const SegmentJob<float, Index>& job, int64_t from, int64_t to) {
  SumBody<PlainLanes>(job, from, to);
}

// --- other reductions; `scratch` holds a row ---

template <class Index>
struct SumHalfs {
  CAFFE2RT_SIMD_INLINE void operator()(const SegmentJob<float16, Index>* job, int64_t from,
                                       int64_t to) const {
    const int64_t block = job->block;
    for (int64_t s = from; s < to; ++s) {
      const int64_t first = job->offsets[s], last = job->offsets[s + 1];
      float* const out = job->out + s * block;
      for (int64_t j = 0; j < block; ++j) out[j] = 0;
      for (int64_t i = first; i < last; ++i) {
        const float16* const row = job->data + RowOf(*job, i) * block;
        const float weight = WeightOf(*job, i, first);
        for (int64_t j = 0; j < block; ++j) out[j] += static_cast<float>(row[j]) * weight;
      }
      const float scale = ScaleOf(*job, first, last);
      for (int64_t j = 0; j < block; ++j) out[j] *= scale;
    }
  }
};

template <class Index>
struct MaxOfRows {
  CAFFE2RT_SIMD_INLINE void operator()(const SegmentJob<float, Index>* job, int64_t s,
                                       float* out) const {
    const int64_t first = job->offsets[s], last = job->offsets[s + 1], block = job->block;
    const bool of_range = job->reduction != Reduction::kMax;
    const float lowest = of_range ? std::numeric_limits<float>::lowest() : 0.0f;
    for (int64_t j = 0; j < block; ++j) out[j] = lowest;
    for (int64_t i = first; i < last; ++i) {
      const float* const row = job->data + RowOf(*job, i) * block;
      if (i == first && !of_range) {
        for (int64_t j = 0; j < block; ++j) out[j] = row[j];
        continue;
      }
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) out[j] = out[j] < row[j] ? row[j] : out[j];
    }
  }
};

template <class Index>
struct ReduceOthers {
  CAFFE2RT_SIMD_INLINE void operator()(const SegmentJob<float, Index>* job, int64_t from,
                                       int64_t to, float* scratch) const {
    const bool is_max =
        job->reduction == Reduction::kMax || job->reduction == Reduction::kMaxOfRange;
    for (int64_t s = from; s < to; ++s) {
      float* const out = job->out + s * job->block;
      MaxOfRows<Index>{}(job, s, is_max ? out : scratch);
      if (!is_max) LogOfSum(job, s, scratch, out);
    }
  }

  // log(sum(exp(x))) = log(sum(exp(x - max))) + max.
  CAFFE2RT_SIMD_INLINE static void LogOfSum(const SegmentJob<float, Index>* job, int64_t s,
                                            const float* max, float* out) {
    const int64_t first = job->offsets[s], last = job->offsets[s + 1], block = job->block;
    for (int64_t j = 0; j < block; ++j) out[j] = 0;
    for (int64_t i = first; i < last; ++i) {
      const float* const row = job->data + RowOf(*job, i) * block;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) out[j] += math::Exp(row[j] - max[j]);
    }
    const float count =
        job->reduction == Reduction::kLogMeanExp ? static_cast<float>(last - first) : 1.0f;
    CAFFE2RT_SIMD_LOOP
    for (int64_t j = 0; j < block; ++j) out[j] = math::Log(out[j] / count) + max[j];
  }
};

// --- dispatch ---

// An index is invalid if it or rows - 1 - index is negative. AVX2 cannot compare 64-bit numbers without
// signs.
struct FindInvalid {
  template <class Index>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const Index* indices, int64_t rows,
                                       bool* invalid) const {
    const uint64_t last = static_cast<uint64_t>(rows) - 1;
    uint64_t signs = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto index = static_cast<uint64_t>(static_cast<int64_t>(indices[i]));
      signs |= index | (last - index);
    }
    *invalid = signs >> 63 != 0;
  }
};

template <class Index>
void CheckIndices(int64_t n, const Index* indices, int64_t rows) {
  if (indices == nullptr) return;
  bool invalid = false;
  RunSimd(FindInvalid{}, n, indices, rows, &invalid);
  for (int64_t i = 0; invalid && i < n; ++i) {
    CAFFE_ENFORCE(indices[i] >= 0 && indices[i] < rows, "element ", i, " of input INDICES is ",
                  indices[i], ", want at least 0 and below ", rows, ", the rows of DATA");
  }
}

// Calls f(from, to) for ranges of segments, on several threads if there are many elements.
template <class T, class Index, class F>
void ForSegments(const SegmentJob<T, Index>& job, const F& f) {
  constexpr int64_t kLeastElements = 1 << 16;  // worth a thread
  const int64_t pieces = std::clamp<int64_t>(job.positions * job.block / kLeastElements, 1,
                                             std::min<int64_t>(GetNumThreads(), job.segments));
  ParallelFor(static_cast<int>(pieces), [&](int piece) {
    f(job.segments * piece / pieces, job.segments * (piece + 1) / pieces);
  });
}

}  // namespace

template <class T, class Index>
void ReduceSegments(CPUContext&, const SegmentJob<T, Index>& job, Tensor* scratch) {
  CheckIndices(job.positions, job.indices, job.rows);
  if (job.segments == 0 || job.block == 0) return;
  if constexpr (std::is_same_v<T, float16>) {
    ForSegments(job, [&](int64_t from, int64_t to) { RunSimd(SumHalfs<Index>{}, &job, from, to); });
  } else if (job.reduction <= Reduction::kPositionalSum) {
    auto* const sum = PickByIsa(SumAvx512<Index>, SumAvx2<Index>, SumPlain<Index>);
    ForSegments(job, [&](int64_t from, int64_t to) { sum(job, from, to); });
  } else {
    scratch->Resize(job.block);
    RunSimd(ReduceOthers<Index>{}, &job, int64_t{0}, job.segments,
            scratch->template mutable_data<float>());
  }
}

#define CAFFE2RT_REDUCE_SEGMENTS(T, Index) \
  template void ReduceSegments(CPUContext&, const SegmentJob<T, Index>&, Tensor*);
CAFFE2RT_REDUCE_SEGMENTS(float, int32_t)
CAFFE2RT_REDUCE_SEGMENTS(float, int64_t)
CAFFE2RT_REDUCE_SEGMENTS(float16, int32_t)
CAFFE2RT_REDUCE_SEGMENTS(float16, int64_t)
#undef CAFFE2RT_REDUCE_SEGMENTS

namespace {

// Adds each row to the sum of its segment, and counts the rows of a segment if asked to.
template <class Index>
struct AddById {
  CAFFE2RT_SIMD_INLINE void operator()(const SegmentJob<float, Index>* job, const int32_t* ids,
                                       int64_t* counts) const {
    const int64_t block = job->block;
    for (int64_t i = 0; i < job->positions; ++i) {
      const float* const row = job->data + RowOf(*job, i) * block;
      const float weight = WeightOf(*job, i, 0);
      float* const out = job->out + ids[i] * block;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) out[j] += row[j] * weight;
      if (counts != nullptr) ++counts[ids[i]];
    }
    for (int64_t s = 0; counts != nullptr && s < job->segments; ++s) {
      if (counts[s] < 2) continue;
      const float scale = 1.0f / static_cast<float>(counts[s]);
      float* const out = job->out + s * block;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) out[j] *= scale;
    }
  }
};

}  // namespace

template <class Index>
void ReduceUnsorted(CPUContext&, const SegmentJob<float, Index>& job, const int32_t* ids,
                    Tensor* counts) {
  CheckIndices(job.positions, job.indices, job.rows);
  if (job.block == 0) return;
  std::fill_n(job.out, job.segments * job.block, 0.0f);
  int64_t* count = nullptr;
  if (job.reduction == Reduction::kMean) {
    counts->Resize(job.segments);
    count = counts->template mutable_data<int64_t>();
    std::fill_n(count, job.segments, int64_t{0});
  }
  RunSimd(AddById<Index>{}, &job, ids, count);
}
template void ReduceUnsorted(CPUContext&, const SegmentJob<float, int32_t>&, const int32_t*,
                             Tensor*);
template void ReduceUnsorted(CPUContext&, const SegmentJob<float, int64_t>&, const int32_t*,
                             Tensor*);

}  // namespace caffe2rt
