#pragma once
// The kernels of Where and Conditional, on the CPU and on CUDA (where.cu).

#include <cstddef>
#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Row i of y is row i of x if c[i] is true, else row i of z. A row has `length` elements.
template <class T>
void SelectRows(CPUContext&, int64_t rows, int64_t length, const bool* c, const T* x, const T* z,
                T* y) {
  if (length == 1) {
    for (int64_t i = 0; i < rows; ++i) y[i] = c[i] ? x[i] : z[i];
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const T* from = (c[i] ? x : z) + i * length;
    for (int64_t j = 0; j < length; ++j) y[i * length + j] = from[j];
  }
}
// For float, double, int32_t, int64_t and bool.
template <class T>
void SelectRows(CUDAContext& context, int64_t rows, int64_t length, const bool* c, const T* x,
                const T* z, T* y);

// The same for rows of `row_bytes` bytes of plain data.
void SelectRowsOfBytes(CUDAContext& context, int64_t rows, size_t row_bytes, const bool* c,
                       const void* x, const void* z, void* y);

}  // namespace caffe2rt
