#pragma once
// The kernels of Unique on CUDA (segment.cu), for n >= 1 numbers.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// For sorting: the numbers and their positions. Instantiated for int32_t and int64_t.
template <class T>
void MakeUniqueKeys(CUDAContext& context, int64_t n, const T* x, int64_t* keys, int32_t* places);
// is_first[i]: 1 if the sorted key i differs from the one before it, else 0.
void MarkFirstKeys(CUDAContext& context, int64_t n, const int64_t* keys, int32_t* is_first);
// `ranks` are the running sums of is_first. Writes each key once, and for each position the rank of
// its number if `remapping` is not null. Instantiated for int32_t and int64_t.
template <class T>
void WriteUniqueKeys(CUDAContext& context, int64_t n, const int64_t* keys, const int32_t* places,
                     const int32_t* ranks, T* unique, int32_t* remapping);

}  // namespace caffe2rt
