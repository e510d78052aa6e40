// The CPU kernels of the gradients of segment operators (segment_kernels.h).

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/elementary.h"
#include "operators/segment/segment_kernels.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_INLINE inline float DotProduct(int64_t n, const float* x, const float* y) {
  constexpr int64_t kParts = 16;
  float parts[kParts] = {};
  int64_t j = 0;
  for (; j + kParts <= n; j += kParts) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t part = 0; part < kParts; ++part) parts[part] += x[j + part] * y[j + part];
  }
  float sum = 0;
  for (int64_t part = 0; part < kParts; ++part) sum += parts[part];
  for (; j < n; ++j) sum += x[j] * y[j];
  return sum;
}

// Writes the gradient of one position.
template <class Index>
CAFFE2RT_SIMD_INLINE inline void SpreadRow(const SpreadJob<Index>& job, int64_t i, int64_t s,
                                           float scale) {
  const int64_t block = job.block;
  const float* const dy = job.dy + s * block;
  float* const dx = job.dx + i * block;
  const float* const y = job.y != nullptr ? job.y + s * block : nullptr;
  const float* const x =
      job.x != nullptr ? job.x + (job.indices != nullptr ? int64_t{job.indices[i]} : i) * block
                       : nullptr;
  switch (job.reduction) {
    case Reduction::kMax:
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) dx[j] = x[j] == y[j] ? dy[j] : 0.0f;
      return;
    case Reduction::kLogSumExp:
    case Reduction::kLogMeanExp:
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) dx[j] = scale * dy[j] * math::Exp(x[j] - y[j]);
      return;
    default: {
      const float factor = job.weights != nullptr ? job.weights[i] : scale;
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < block; ++j) dx[j] = dy[j] * factor;
      if (job.dweights != nullptr) job.dweights[i] = DotProduct(block, dy, x);
    }
  }
}

CAFFE2RT_SIMD_INLINE inline float ScaleOf(Reduction reduction, int64_t count) {
  return reduction == Reduction::kMean || reduction == Reduction::kLogMeanExp
             ? 1.0f / static_cast<float>(count)
             : 1.0f;
}

template <class Index>
struct SpreadSegments {
  CAFFE2RT_SIMD_INLINE void operator()(const SpreadJob<Index>* job) const {
    for (int64_t s = 0; s < job->segments; ++s) {
      const int64_t first = job->offsets[s], last = job->offsets[s + 1];
      const float scale = ScaleOf(job->reduction, last - first);
      for (int64_t i = first; i < last; ++i) SpreadRow(*job, i, s, scale);
    }
  }
};

struct SpreadById {
  CAFFE2RT_SIMD_INLINE void operator()(const SpreadJob<int32_t>* job, const int32_t* ids,
                                       const int64_t* counts) const {
    for (int64_t i = 0; i < job->positions; ++i) {
      const int64_t s = ids[i];
      SpreadRow(*job, i, s, counts != nullptr ? ScaleOf(job->reduction, counts[s]) : 1.0f);
    }
  }
};

}  // namespace

template <class Index>
void SpreadGradients(CPUContext&, const SpreadJob<Index>& job) {
  for (int64_t i = 0; job.indices != nullptr && i < job.positions; ++i) {
    CAFFE_ENFORCE(job.indices[i] >= 0 && job.indices[i] < job.rows, "element ", i,
                  " of input INDICES is ", job.indices[i], ", want at least 0 and below ", job.rows,
                  ", the rows of DATA");
  }
  RunSimd(SpreadSegments<Index>{}, &job);
}
template void SpreadGradients(CPUContext&, const SpreadJob<int32_t>&);
template void SpreadGradients(CPUContext&, const SpreadJob<int64_t>&);

void SpreadUnsorted(CPUContext&, const SpreadJob<int32_t>& job, const int32_t* ids,
                    Tensor* counts) {
  int64_t* count = nullptr;
  if (job.reduction == Reduction::kMean) {
    counts->Resize(job.segments);
    count = counts->mutable_data<int64_t>();
    std::fill_n(count, job.segments, int64_t{0});
    for (int64_t i = 0; i < job.positions; ++i) ++count[ids[i]];
  }
  RunSimd(SpreadById{}, &job, ids, static_cast<const int64_t*>(count));
}

}  // namespace caffe2rt
