// Where and Conditional on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/conditional.h"
#include "operators/elementwise/map.cuh"
#include "operators/elementwise/where.h"

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
  if constexpr (std::is_trivially_copyable_v<T>) {
    ForEach(context, rows * length, SelectKernel<T>{length, c, x, z, y}, "SelectRows");
  } else {
    CAFFE_THROW("input 1 (X) has elements of type ", TypeMeta::Name<T>(),
                ": they are on the CPU alone");
  }
}

namespace {

// Rows of `bytes` bytes in words of T; false when they do not fit.
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

void SelectItems(CUDAContext& context, TypeMeta type, int64_t rows, int64_t length, const bool* c,
                 const void* x, const void* z, void* y) {
  CAFFE_ENFORCE(type.IsPlainData(), "input 1 (X) has elements of type ", type.name(),
                ": they are on the CPU alone");
  const size_t bytes = static_cast<size_t>(length) * type.itemsize();
  SelectWords<uint64_t>(context, rows, bytes, c, x, z, y) ||
      SelectWords<uint32_t>(context, rows, bytes, c, x, z, y) ||
      SelectWords<uint8_t>(context, rows, bytes, c, x, z, y);
}

void RegisterWhereCuda() {
  RegisterOperator<WhereOp<CUDAContext>>(CUDA, "Where", __FILE__);
  RegisterOperator<ConditionalOp<CUDAContext>>(CUDA, "Conditional", __FILE__);
}

}  // namespace caffe2rt
