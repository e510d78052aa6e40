#pragma once
// Kernels that kernel_test.cc looks at from outside. They are in a .cu file, so that on hardware
// they are the device's.

#include <cstdint>

#include "contexts/cuda/cuda_context.h"

namespace caffe2rt::test {

// y[i - first] = i for i in [first, first + n).
void WriteIndices(CUDAContext& context, int64_t first, int64_t n, int64_t* y);
// The same for rows: y[row - first] = row.
void WriteRows(CUDAContext& context, int64_t first, int64_t rows, int64_t* y);

// Of each row of x [rows, cols]: sum, largest and smallest value, and how often its Once ran (added
// to what is there).
struct RowFacts {
  float sum;
  float largest;
  float smallest;
  int64_t once;
};
void FindRowFacts(CUDAContext& context, int64_t rows, int64_t cols, const float* x, RowFacts* y);

// Where the largest value of each row is, the first of equal ones: a reduction of structs. -1 for
// rows without columns.
void FindLargest(CUDAContext& context, int64_t rows, int64_t cols, const float* x, int64_t* y);

// Turns each row around, by two passes with a Sync between them; `scratch` is as large as x.
void ReverseRows(CUDAContext& context, int64_t rows, int64_t cols, float* x, float* scratch);

}  // namespace caffe2rt::test
