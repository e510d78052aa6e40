#pragma once
// Dispatch on the context, shared by the headers of this folder.
//
// All functions are templates over the element type and the context, in Caffe2's argument order,
// with the context last. On the CPU they run on the calling thread. For a CUDAContext they launch
// kernels of libcaffe2_cuda (cuda.h); an element type that the library does not instantiate is a
// link error. With any other context a call THROWS.

#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/device/device_type.h"
#include "operators/math/cuda.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math::internal {

template <class Context>
inline void RequireCpu() {
  if constexpr (Context::GetDeviceType() != CPU) {
    CAFFE_THROW("math functions have no implementation for ",
                DeviceTypeName(Context::GetDeviceType()));
  }
}

// y[i] = f(x[i]) and y[i] = f(x[i], y[i]).
template <class Context, class T, class F>
inline void Map(Context* context, int64_t n, const T* x, T* y, const F& f) {
  if constexpr (kIsCuda<Context>) {
    CudaMap(*context, n, x, y, f);
  } else {
    RequireCpu<Context>();
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
  }
}
template <class Context, class T, class F>
inline void Update(Context* context, int64_t n, const T* x, T* y, const F& f) {
  if constexpr (kIsCuda<Context>) {
    CudaUpdate(*context, n, x, y, f);
  } else {
    RequireCpu<Context>();
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i], y[i]);
  }
}

}  // namespace caffe2rt::math::internal
#pragma GCC visibility pop
