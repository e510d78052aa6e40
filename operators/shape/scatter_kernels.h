#pragma once
// The kernels of ScatterAssign and ScatterWeightedSum on CUDA (add_slices.cu). The n keys and places
// are those of SortedSlices (add_slices.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// Slices and the number by which they are multiplied.
struct WeightedSlices {
  const float* x;
  const float* weight;
};

// Copies slices of `block` items of `item_bytes` bytes to the slices of y that the keys name. Of
// equal keys, the last one counts.
void AssignSortedSlices(CUDAContext& context, int64_t item_bytes, int64_t n, int64_t block,
                        const int64_t* keys, const int32_t* places, const void* values, void* y);

// For each key, multiplies the slice of y by *factor, unless `factor` is null, and adds the weighted
// slice.
void AddWeightedSortedSlices(CUDAContext& context, int64_t n, int64_t block, const int64_t* keys,
                             const int32_t* places, const float* factor, const WeightedSlices& add,
                             float* y);

}  // namespace caffe2rt
