// The kernels of segment operators on CUDA (segment_kernels.h), Unique and its helpers.

#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/primitives/half.cuh"
#include "operators/segment/segment_kernels.h"
#include "operators/segment/unique_kernels.h"

namespace caffe2rt {

namespace {

constexpr const char* kBadIndex =
    "an element of input INDICES is %, want at least 0 and below %, the rows of DATA";

// A thread reduces one column of a segment, in the order of the rows. If rows have no elements, it
// only checks one index.
template <class T, class Index>
struct ReduceColumn {
  SegmentJob<T, Index> job;
  KernelReport* report;
  ReportText text;

  // Returns the row of a position, or -1 and reports the index if it is out of range.
  CAFFE2RT_HOST_DEVICE int64_t RowOf(int64_t position) const {
    const int64_t row = job.indices != nullptr ? int64_t{job.indices[position]} : position;
    if (row >= 0 && row < job.rows) return row;
    report->Raise(text, row, job.rows);
    return -1;
  }
  CAFFE2RT_HOST_DEVICE float At(int64_t row, int64_t c) const {
    return static_cast<float>(math::Load(job.data[row * job.block + c]));
  }

  CAFFE2RT_HOST_DEVICE float Sum(int64_t first, int64_t last, int64_t c) const {
    const bool positional = job.reduction == Reduction::kPositionalSum;
    float sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const int64_t position = job.places != nullptr ? int64_t{job.places[i]} : i;
      const int64_t row = RowOf(position);
      if (row < 0) continue;
      const float weight =
          job.weights != nullptr ? job.weights[positional ? i - first : position] : 1.0f;
      sum += At(row, c) * weight;
    }
    const bool mean = job.reduction == Reduction::kMean && last > first;
    return mean ? sum * (1.0f / static_cast<float>(last - first)) : sum;
  }
  CAFFE2RT_HOST_DEVICE float Largest(int64_t first, int64_t last, int64_t c) const {
    constexpr float kLowest = -3.402823466e+38f;
    const bool of_range = job.reduction != Reduction::kMax;
    float largest = of_range ? kLowest : 0.0f;
    bool is_first = !of_range;
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = RowOf(i);
      if (row < 0) continue;
      const float x = At(row, c);
      largest = is_first || largest < x ? x : largest;
      is_first = false;
    }
    return largest;
  }
  CAFFE2RT_HOST_DEVICE float LogOfSum(int64_t first, int64_t last, int64_t c) const {
    const float largest = Largest(first, last, c);
    float sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = RowOf(i);
      if (row >= 0) sum += expf(At(row, c) - largest);
    }
    if (job.reduction == Reduction::kLogMeanExp) sum /= static_cast<float>(last - first);
    return logf(sum) + largest;
  }

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    if (job.block == 0) {  // i is a position
      (void)RowOf(i);
      return;
    }
    const int64_t s = i / job.block, c = i % job.block;
    const int64_t first = job.offsets[s], last = job.offsets[s + 1];
    switch (job.reduction) {
      case Reduction::kMax:
      case Reduction::kMaxOfRange:
        job.out[i] = Largest(first, last, c);
        return;
      case Reduction::kLogSumExp:
      case Reduction::kLogMeanExp:
        job.out[i] = LogOfSum(first, last, c);
        return;
      default:
        job.out[i] = Sum(first, last, c);
    }
  }
};

// Returns the segment that contains position `i`.
CAFFE2RT_HOST_DEVICE inline int64_t SegmentOf(int64_t i, int64_t segments, const int64_t* offsets) {
  int64_t low = 0, high = segments;  // the first segment that ends behind the position
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (offsets[middle + 1] > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// A thread writes one element of the gradient.
template <class Index>
struct SpreadElement {
  SpreadJob<Index> job;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t i = at / job.block, c = at % job.block;
    const int64_t s = SegmentOf(i, job.segments, job.offsets);
    const int64_t count = job.offsets[s + 1] - job.offsets[s];
    const float dy = job.dy[s * job.block + c];
    const float mean = dy / static_cast<float>(count);
    switch (job.reduction) {
      case Reduction::kMax:
        job.dx[at] = job.x[at] == job.y[s * job.block + c] ? dy : 0.0f;
        return;
      case Reduction::kLogSumExp:
        job.dx[at] = dy * expf(job.x[at] - job.y[s * job.block + c]);
        return;
      case Reduction::kLogMeanExp:
        job.dx[at] = mean * expf(job.x[at] - job.y[s * job.block + c]);
        return;
      case Reduction::kMean:
        job.dx[at] = mean;
        return;
      default:
        job.dx[at] = job.weights != nullptr ? dy * job.weights[i] : dy;
    }
  }
};

// A block of threads computes the gradient of one weight.
template <class Index>
struct SpreadWeight {
  SpreadJob<Index> job;
  KernelReport* report;
  ReportText text;

  CAFFE2RT_HOST_DEVICE void operator()(Row row) const {
    const SpreadWeight self = *this;
    const int64_t i = row.index();
    const int64_t s = SegmentOf(i, job.segments, job.offsets);
    const int64_t from = job.indices != nullptr ? int64_t{job.indices[i]} : i;
    const bool valid = from >= 0 && from < job.rows;
    const float sum = row.Reduce(valid ? job.block : int64_t{0}, 0.0f, Plus(), [=](int64_t c) {
      return self.job.dy[s * self.job.block + c] * self.job.x[from * self.job.block + c];
    });
    row.Once([=] {
      if (!valid) self.report->Raise(self.text, from, self.job.rows);
      self.job.dweights[i] = sum;
    });
  }
};

struct MakeKey {
  int64_t segments;
  const int32_t* ids;
  int64_t* keys;
  int32_t* places;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t id = ids[i];
    const bool valid = id >= 0 && id < segments;
    if (!valid) report->Raise(text, id, segments);
    keys[i] = valid ? id : -1;
    places[i] = static_cast<int32_t>(i);
  }
};

struct FindOffset {
  int64_t n;
  const int64_t* keys;
  int64_t* offsets;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t s) const {
    int64_t low = 0, high = n;  // the first key that is not below s
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < s) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    offsets[s] = low;
  }
};

// --- Unique ---
template <class T>
struct WidenKeys {
  const T* x;
  int64_t* keys;
  int32_t* places;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    keys[i] = x[i];
    places[i] = static_cast<int32_t>(i);
  }
};
struct MarkFirst {
  const int64_t* keys;
  int32_t* is_first;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    is_first[i] = i == 0 || keys[i - 1] != keys[i] ? 1 : 0;
  }
};
template <class T>
struct RankUnique {
  const int64_t* keys;
  const int32_t* places;
  const int32_t* ranks;
  T* unique;
  int32_t* remapping;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int32_t rank = ranks[i] - 1;
    if (i == 0 || ranks[i - 1] != ranks[i]) unique[rank] = static_cast<T>(keys[i]);
    if (remapping != nullptr) remapping[places[i]] = rank;
  }
};

}  // namespace

template <class T, class Index>
void ReduceSegments(CUDAContext& context, const SegmentJob<T, Index>& job, Tensor*) {
  const bool only_check = job.block == 0 && job.indices != nullptr;
  ForEach(context, only_check ? job.positions : job.segments * job.block,
          ReduceColumn<T, Index>{job, ReportOf(context), kBadIndex}, "ReduceSegments");
}
#define CAFFE2RT_REDUCE_SEGMENTS(T, Index) \
  template void ReduceSegments(CUDAContext&, const SegmentJob<T, Index>&, Tensor*);
CAFFE2RT_REDUCE_SEGMENTS(float, int32_t)
CAFFE2RT_REDUCE_SEGMENTS(float, int64_t)
CAFFE2RT_REDUCE_SEGMENTS(float16, int32_t)
CAFFE2RT_REDUCE_SEGMENTS(float16, int64_t)
#undef CAFFE2RT_REDUCE_SEGMENTS

template <class Index>
void SpreadGradients(CUDAContext& context, const SpreadJob<Index>& job) {
  ForEach(context, job.positions * job.block, SpreadElement<Index>{job}, "SpreadGradients");
  if (job.dweights == nullptr) return;
  ForEachRow(context, job.positions, SpreadWeight<Index>{job, ReportOf(context), kBadIndex},
             "SpreadGradients");
}
template void SpreadGradients(CUDAContext&, const SpreadJob<int32_t>&);
template void SpreadGradients(CUDAContext&, const SpreadJob<int64_t>&);

void MakeSegmentKeys(CUDAContext& context, int64_t n, int64_t segments, const int32_t* ids,
                     int64_t* keys, int32_t* places) {
  ForEach(context, n,
          MakeKey{segments, ids, keys, places, ReportOf(context),
                  "an element of input SEGMENT_IDS is %, want at least 0 and below the number of "
                  "segments, %"},
          "SortSegments");
}
void FindOffsets(CUDAContext& context, int64_t n, int64_t segments, const int64_t* keys,
                 int64_t* offsets) {
  ForEach(context, segments + 1, FindOffset{n, keys, offsets}, "SortSegments");
}

template <class T>
void MakeUniqueKeys(CUDAContext& context, int64_t n, const T* x, int64_t* keys, int32_t* places) {
  ForEach(context, n, WidenKeys<T>{x, keys, places}, "Unique");
}
void MarkFirstKeys(CUDAContext& context, int64_t n, const int64_t* keys, int32_t* is_first) {
  ForEach(context, n, MarkFirst{keys, is_first}, "Unique");
}
template <class T>
void WriteUniqueKeys(CUDAContext& context, int64_t n, const int64_t* keys, const int32_t* places,
                     const int32_t* ranks, T* unique, int32_t* remapping) {
  ForEach(context, n, RankUnique<T>{keys, places, ranks, unique, remapping}, "Unique");
}
#define CAFFE2RT_UNIQUE(T)                                                             \
  template void MakeUniqueKeys(CUDAContext&, int64_t, const T*, int64_t*, int32_t*);   \
  template void WriteUniqueKeys(CUDAContext&, int64_t, const int64_t*, const int32_t*, \
                                const int32_t*, T*, int32_t*);
CAFFE2RT_UNIQUE(int32_t)
CAFFE2RT_UNIQUE(int64_t)
#undef CAFFE2RT_UNIQUE

}  // namespace caffe2rt
