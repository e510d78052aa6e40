#pragma once
// What CUB does on CUDA. This is the one door to it: on the fake CUDA of the tests the standard
// library's algorithm runs in the stream instead.
//
// `temporary` is memory of the device that grows to the largest request.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;
class Tensor;

namespace math {

// *y = the sum of n numbers. Integers wrap around. REQUIRES: n > 0.
void SumByCub(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const double* x, double* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const int32_t* x, int32_t* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const int64_t* x, int64_t* y, Tensor* temporary);

// Sorts each of `rows` rows of `size` keys from the largest down; values move with their keys,
// those of equal keys keep their order. REQUIRES: no NaN and no -0, size < 2^31; the arrays do not
// overlap.
void SortRowsByCub(CUDAContext& context, int64_t rows, int64_t size, const float* keys,
                   float* sorted_keys, const int32_t* values, int32_t* sorted_values,
                   Tensor* temporary);

}  // namespace math
}  // namespace caffe2rt
