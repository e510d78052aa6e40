#pragma once
// Kernels of MaxUnpoolWithIndex, on the CPU (max_unpool_with_index.cc) and on CUDA
// (max_unpool_with_index.cu). An index out of range is an error: the CPU THROWS; on CUDA the next wait
// for the stream throws.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct UnpoolSizes {
  int64_t planes = 0;
  int64_t in = 0, out = 0;  // elements of a plane of X and of Y, at most 2147483647
};

// In each plane y[index[i]] = x[i], unless index[i] is -1. Other elements of y are 0. Of several
// elements for one place the last one counts.
void UnpoolByIndex(CPUContext& context, const UnpoolSizes& sizes, const float* x,
                   const int32_t* index, float* y);
void UnpoolByIndex(CUDAContext& context, const UnpoolSizes& sizes, const float* x,
                   const int32_t* index, float* y);

}  // namespace caffe2rt
