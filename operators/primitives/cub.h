#pragma once
// The algorithms of CUB that the library uses on CUDA. No other header exposes CUB. On the fake
// CUDA of the tests, an algorithm of the standard library runs in the stream instead.
//
// `temporary` is scratch memory on the device. It grows to the largest request.

#include <cstdint>

namespace caffe2rt {

class CUDAContext;
class Tensor;

namespace math {

// *y = the sum of n numbers. Integers wrap around on overflow. REQUIRES: n > 0.
void SumByCub(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const double* x, double* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const int32_t* x, int32_t* y, Tensor* temporary);
void SumByCub(CUDAContext& context, int64_t n, const int64_t* x, int64_t* y, Tensor* temporary);

// sums[i] = x[0] + ... + x[i] for n numbers. The arrays must not overlap. REQUIRES: 0 < n < 2^31.
void RunningSumsByCub(CUDAContext& context, int64_t n, const int32_t* x, int32_t* sums,
                      Tensor* temporary);

// Sorts each of `rows` rows of `size` keys in descending order and moves the values with their
// keys. The sort is stable. REQUIRES: no NaN and no -0 among the keys, size < 2^31, and the arrays
// do not overlap.
void SortRowsByCub(CUDAContext& context, int64_t rows, int64_t size, const float* keys,
                   float* sorted_keys, const int32_t* values, int32_t* sorted_values,
                   Tensor* temporary);

// Sorts n keys in ascending order and moves the values with their keys. The sort is stable.
// REQUIRES: n < 2^31, and the arrays do not overlap.
void SortByCub(CUDAContext& context, int64_t n, const int64_t* keys, int64_t* sorted_keys,
               const int32_t* values, int32_t* sorted_values, Tensor* temporary);

}  // namespace math
}  // namespace caffe2rt
