// The kernels of Where and Conditional.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/elementwise/where_kernels.h"

namespace caffe2rt {

namespace {

template <class T>
struct SelectKernel {
  int64_t length;
  const bool* c;
  const T* x;
  const T* z;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    y[i] = c[length == 1 ? i : i / length] ? x[i] : z[i];
  }
};

}  // namespace

template <class T>
void SelectRows(CUDAContext& context, int64_t rows, int64_t length, const bool* c, const T* x,
                const T* z, T* y) {
  ForEach(context, rows * length, SelectKernel<T>{length, c, x, z, y}, "SelectRows");
}
template void SelectRows(CUDAContext&, int64_t, int64_t, const bool*, const float*, const float*,
                         float*);
template void SelectRows(CUDAContext&, int64_t, int64_t, const bool*, const double*, const double*,
                         double*);
template void SelectRows(CUDAContext&, int64_t, int64_t, const bool*, const int32_t*,
                         const int32_t*, int32_t*);
template void SelectRows(CUDAContext&, int64_t, int64_t, const bool*, const int64_t*,
                         const int64_t*, int64_t*);
template void SelectRows(CUDAContext&, int64_t, int64_t, const bool*, const bool*, const bool*,
                         bool*);

namespace {

// Selects rows of `bytes` bytes in words of type T. Returns false if a word does not divide them.
template <class T>
bool SelectWords(CUDAContext& context, int64_t rows, size_t bytes, const bool* c, const void* x,
                 const void* z, void* y) {
  const auto misfit = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % sizeof(T) != 0; };
  if (bytes % sizeof(T) != 0 || misfit(x) || misfit(z) || misfit(y)) return false;
  SelectRows(context, rows, static_cast<int64_t>(bytes / sizeof(T)), c, static_cast<const T*>(x),
             static_cast<const T*>(z), static_cast<T*>(y));
  return true;
}

}  // namespace

void SelectRowsOfBytes(CUDAContext& context, int64_t rows, size_t row_bytes, const bool* c,
                       const void* x, const void* z, void* y) {
  SelectWords<uint64_t>(context, rows, row_bytes, c, x, z, y) ||
      SelectWords<uint32_t>(context, rows, row_bytes, c, x, z, y) ||
      SelectWords<uint8_t>(context, rows, row_bytes, c, x, z, y);
}

}  // namespace caffe2rt
