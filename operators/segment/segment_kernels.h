#pragma once
// The kernels of segment operators, on the CPU (reduce_rows.cc, spread_rows.cc) and on CUDA
// (segment.cu). The positions are the rows of DATA, or the indices into it. Segment s consists of
// the positions from offsets[s] up to, but excluding, offsets[s + 1].

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;
class Tensor;

// kMax: NaN if the first row is NaN, other NaNs are ignored; 0 for an empty segment.
// kMaxOfRange: NaNs are ignored, and a maximum is at least the lowest finite number.
enum class Reduction {
  kSum,
  kMean,
  kWeightedSum,
  kPositionalSum,
  kMax,
  kMaxOfRange,
  kLogSumExp,
  kLogMeanExp
};

// Reduces the rows of each segment to one row of `out` [segments, block].
template <class T, class Index>
struct SegmentJob {
  Reduction reduction = Reduction::kSum;
  int64_t segments = 0;
  int64_t positions = 0;
  int64_t rows = 0;   // of data
  int64_t block = 0;  // elements of a row
  const int64_t* offsets = nullptr;
  const Index* indices = nullptr;   // null: position i is row i
  const int32_t* places = nullptr;  // on CUDA: if set, offsets count in this list of positions
  const float* weights = nullptr;   // of each position, or of each position in a segment
  const T* data = nullptr;
  float* out = nullptr;
};

// Instantiated for T float and float16 (sums only) and Index int32_t and int64_t.
// `scratch` is memory of the context. An index out of range is an error: the CPU THROWS; on CUDA the
// row is left out, and the next wait for the stream throws.
template <class T, class Index>
void ReduceSegments(CPUContext& context, const SegmentJob<T, Index>& job, Tensor* scratch);
template <class T, class Index>
void ReduceSegments(CUDAContext& context, const SegmentJob<T, Index>& job, Tensor* scratch);

// The gradient of each position, dx [positions, block]: the gradient of its segment, multiplied by
// what the reduction asks for.
template <class Index>
struct SpreadJob {
  Reduction reduction = Reduction::kSum;
  int64_t segments = 0;
  int64_t positions = 0;
  int64_t rows = 0;  // of x
  int64_t block = 0;
  const int64_t* offsets = nullptr;
  const Index* indices = nullptr;  // of the positions in x; null: position i is row i
  const float* weights = nullptr;
  const float* dy = nullptr;  // [segments, block]
  const float* x = nullptr;
  const float* y = nullptr;  // the output of the forward operator
  float* dx = nullptr;
  float* dweights = nullptr;  // if set: dot products of dy and x
};

// Instantiated for int32_t and int64_t. Errors as above; on CUDA the gradient of the weight is 0.
template <class Index>
void SpreadGradients(CPUContext& context, const SpreadJob<Index>& job);
template <class Index>
void SpreadGradients(CUDAContext& context, const SpreadJob<Index>& job);

// --- unsorted segment ids ---
// Reduces as above, where ids[i] is the segment of position i. Reductions: kSum, kMean and
// kWeightedSum. REQUIRES: the ids are valid.
template <class Index>
void ReduceUnsorted(CPUContext& context, const SegmentJob<float, Index>& job, const int32_t* ids,
                    Tensor* counts);
// The gradients likewise. counts: memory for the number of positions of each segment.
void SpreadUnsorted(CPUContext& context, const SpreadJob<int32_t>& job, const int32_t* ids,
                    Tensor* counts);
// On CUDA the positions are sorted by their ids (segment_reduction_cuda.cc). Writes for each
// position its id, or -1 if it is not below `segments`, and the position. The next wait for the
// stream throws for an invalid id.
void MakeSegmentKeys(CUDAContext& context, int64_t n, int64_t segments, const int32_t* ids,
                     int64_t* keys, int32_t* places);
// offsets[s] = the number of sorted keys below s, for s = 0 ... segments.
void FindOffsets(CUDAContext& context, int64_t n, int64_t segments, const int64_t* keys,
                 int64_t* offsets);

}  // namespace caffe2rt
