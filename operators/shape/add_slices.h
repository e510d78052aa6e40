#pragma once
// AddSlices: adds slices to those slices of a tensor that indices name. It is the reverse of Gather,
// and the common part of BatchGatherGradient and SparseToDense.

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/shape/gather_kernels.h"

namespace caffe2rt {

class CUDAContext;

// The order of additions on a device. kOrdered: the order on the CPU, so that the result is the same
// in every run; the indices are sorted. kAny: atomic additions, whose order and rounding differ
// between runs.
enum class AdditionOrder { kOrdered, kAny };
// kAny for the engine "ATOMIC", kOrdered for any other.
inline AdditionOrder AdditionOrderOf(std::string_view engine) {
  return engine == "ATOMIC" ? AdditionOrder::kAny : AdditionOrder::kOrdered;
}

// Scratch memory of a context.
template <class Context>
struct AddSlicesScratch {
  Tensor keys{Context::GetDeviceType()}, places{Context::GetDeviceType()},
      temporary{Context::GetDeviceType()};
};
template <>
struct AddSlicesScratch<CPUContext> {};

// Sets y [outer, size, block] to 0, then for each outer index o and for j = 0 ... count - 1 adds
// values[o, j] to y[o, indices[j]]. Instantiated for indices of int32_t and int64_t, and for values
// of float, int32_t and int64_t, which wrap around.
//
// An index out of range is an error. The CPU THROWS. On CUDA the slice is not added, and the next
// wait for the stream throws.
template <class Index, class T>
void AddSlices(CPUContext& context, AdditionOrder order, const GatherSizes& sizes,
               const Index* indices, const T* values, T* y, AddSlicesScratch<CPUContext>* scratch);
template <class Index, class T>
void AddSlices(CUDAContext& context, AdditionOrder order, const GatherSizes& sizes,
               const Index* indices, const T* values, T* y, AddSlicesScratch<CUDAContext>* scratch);

// Indices that were sorted stably: the slices that they name, in ascending order, and the positions
// of the indices. The slice of an index out of range is -1. In the memory of the scratch.
struct SortedSlices {
  const int64_t* keys;
  const int32_t* places;
};
// For an index out of range, the next wait for the stream throws. Instantiated for indices of
// int32_t and int64_t. REQUIRES: there is at least one index.
template <class Index>
SortedSlices SortSlices(CUDAContext& context, const GatherSizes& sizes, const Index* indices,
                        AddSlicesScratch<CUDAContext>* scratch);

}  // namespace caffe2rt
