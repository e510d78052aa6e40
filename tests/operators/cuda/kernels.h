#pragma once
// Kernels that kernel_test.cc checks from the host. They are in a .cu file, so that on hardware
// they run on the device.

#include <cstdint>

#include "contexts/cuda/cuda_context.h"

namespace caffe2rt::test {

// Sets y[i - first] = i for i in [first, first + n).
void WriteIndices(CUDAContext& context, int64_t first, int64_t n, int64_t* y);
// Sets y[0] = i for i in [0, n): the value is that of the index that ran last.
void WriteToOne(CUDAContext& context, int64_t n, int64_t* y);
// Does the same as WriteIndices for rows: y[row - first] = row.
void WriteRows(CUDAContext& context, int64_t first, int64_t rows, int64_t* y);

// The following functions work on each row with a warp if `warps` is true and the row is short,
// otherwise with a block.

// For each row of x [rows, cols]: the sum, the largest and the smallest value, and the number of
// times that Once ran, which is added to the existing value.
struct RowFacts {
  float sum;
  float largest;
  float smallest;
  int64_t once;
};
void FindRowFacts(CUDAContext& context, bool warps, int64_t rows, int64_t cols, const float* x,
                  RowFacts* y);

// Stores the index of the largest value of each row, or the first such index if there are several,
// using a reduction of structs. The index is -1 for rows without columns.
void FindLargest(CUDAContext& context, bool warps, int64_t rows, int64_t cols, const float* x,
                 int64_t* y);

// Reverses each row in two passes with a Sync in between. `scratch` is as large as x.
void ReverseRows(CUDAContext& context, bool warps, int64_t rows, int64_t cols, float* x,
                 float* scratch);

}  // namespace caffe2rt::test
