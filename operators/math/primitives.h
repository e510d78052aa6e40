#pragma once
// What every header of vector primitives shares: the context decides where they run.
//
// Functions are templates over the element type and the context, in Caffe2's argument order, the
// context last. On the CPU they run on the calling thread, on raw pointers. Another device brings
// its own overloads; without them a call THROWS.

#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/device_type.h"

namespace caffe2rt::math::internal {

template <class Context>
inline void RequireCpu() {
  if constexpr (Context::GetDeviceType() != CPU) {
    CAFFE_THROW("math functions for ", DeviceTypeName(Context::GetDeviceType()),
                " are not in this build");
  }
}

// y[i] = f(x[i]) and z[i] = f(x[i], y[i]).
template <class X, class Y, class F>
inline void Map1(int64_t n, const X* x, Y* y, F f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <class X, class Y, class Z, class F>
inline void Map2(int64_t n, const X* x, const Y* y, Z* z, F f) {
  for (int64_t i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
}

}  // namespace caffe2rt::math::internal
