#pragma once
// Exact products of matrices of bytes, as int16 numbers from which the zero points are subtracted.

#include <cstdint>

#include "caffe2_core/tensor/tensor.h"
#include "operators/common/element_type.h"

namespace caffe2rt {

// c[i * ldc + j] = sum over k of a[i * depth + k] * b[j * depth + k]. Sums wrap around. On the
// calling thread. REQUIRES: the numbers are from -255 to 255.
void MultiplyRows(int64_t rows, int64_t columns, int64_t depth, const int16_t* a, const int16_t* b,
                  int32_t* c, int64_t ldc);

// y[i] = x[i] - zero
void WidenBytes(int64_t n, const uint8_t* x, int32_t zero, int16_t* y);
void WidenBytes(int64_t n, const int8_t* x, int32_t zero, int16_t* y);

// y = saturate(round(sum * multiplier) + zero point), rounded to nearest, ties to even.
struct Requantization {
  const float* multipliers = nullptr;
  int64_t stride = 0;  // 0: one multiplier for all sums
  int32_t zero = 0;
};
void RequantizeSums(int64_t n, const int32_t* sums, const Requantization& by, uint8_t* y);
void RequantizeSums(int64_t n, const int32_t* sums, const Requantization& by, int8_t* y);

// Element i of a tensor of uint8 or int8.
inline int32_t ByteAt(const Tensor& tensor, int64_t i) {
  return tensor.IsType<uint8_t>() ? static_cast<int32_t>(tensor.data<uint8_t>()[i])
                                  : static_cast<int32_t>(tensor.data<int8_t>()[i]);
}

}  // namespace caffe2rt
