#pragma once
// The kernels of ScatterAssign and ScatterWeightedSum on CUDA (add_slices.cu). The n keys and places
// are those of SortedSlices (add_slices.h).

#include <cstdint>

#include "operators/shape/gather_kernels.h"

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

// By atomic operations: multiplies the slices of y that the indices name, and adds weighted slices
// to them. Instantiated for int32_t and int64_t.
template <class Index>
void MultiplySlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                              const float* factor, float* y);
template <class Index>
void AddWeightedSlicesInAnyOrder(CUDAContext& context, const GatherSizes& sizes,
                                 const Index* indices, const WeightedSlices& add, float* y);

}  // namespace caffe2rt
