#pragma once
// The kernels of AddSlices on CUDA (add_slices.h). y holds zeros before they run.

#include <cstdint>

#include "operators/shape/gather_kernels.h"

namespace caffe2rt {

class CUDAContext;

// Returns the number of indices.
inline int64_t IndicesOf(const GatherSizes& sizes) {
  return sizes.match_outer ? sizes.outer * sizes.count : sizes.count;
}

// For sorting: writes for each index the slice of y that it names, or -1 if it is out of range, and
// its position. With match_outer, the slices of all outer indices are numbered consecutively.
template <class Index>
void MakeSliceKeys(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                   int64_t* keys, int32_t* places);
// Adds the values in the order of the sorted keys.
template <class T>
void AddSortedSlices(CUDAContext& context, const GatherSizes& sizes, const int64_t* keys,
                     const int32_t* places, const T* values, T* y);
// Adds the values by atomic additions.
template <class Index, class T>
void AddSlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                         const T* values, T* y);

}  // namespace caffe2rt
