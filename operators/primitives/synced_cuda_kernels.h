#pragma once
// CUDA kernels for arithmetic on synced memory (synced_cuda.cu), for float and double.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

enum class SyncedTerm { kMagnitude, kSquare };

// Size of SumOnCuda's scratch memory, in doubles.
inline constexpr int64_t kSyncedSumDoubles = 1025;

// sums[0] = the sum of |x|, or of x squared, over n elements. REQUIRES: n > 0; `sums` is device
// memory for kSyncedSumDoubles doubles.
template <class T>
void SumOnCuda(CUDAContext& context, SyncedTerm term, int64_t n, const T* x, double* sums);
// x[i] *= factor.
template <class T>
void ScaleOnCuda(CUDAContext& context, int64_t n, T factor, T* x);
// y[i] -= x[i].
template <class T>
void SubtractOnCuda(CUDAContext& context, int64_t n, const T* x, T* y);

}  // namespace caffe2rt
