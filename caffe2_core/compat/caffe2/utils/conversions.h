#pragma once
// Conversion between half precision and float, and between element types.
#include <type_traits>

#include "caffe2/core/types.h"

namespace caffe2 {
namespace convert {

inline float cpu_half2float(float16 h) { return h; }
inline float16 cpu_float2half_rn(float f) { return f; }

template <class In, class Out>
inline Out To(const In& in) {
  if constexpr (std::is_same_v<In, float16> && std::is_same_v<Out, float16>) {
    return in;
  } else if constexpr (std::is_same_v<In, float16>) {
    return static_cast<Out>(cpu_half2float(in));
  } else if constexpr (std::is_same_v<Out, float16>) {
    return cpu_float2half_rn(static_cast<float>(in));
  } else {
    return static_cast<Out>(in);
  }
}
template <class Out, class In>
inline Out Get(In in) {
  return To<In, Out>(in);
}

}  // namespace convert
}  // namespace caffe2
