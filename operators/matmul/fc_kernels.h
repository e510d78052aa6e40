#pragma once
// The kernel of FCGradient on CUDA (fc.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;

// y [columns] = the sum of the rows of x [rows, columns].
void SumRows(CUDAContext& context, int64_t rows, int64_t columns, const float* x, float* y);

}  // namespace caffe2rt
