#pragma once
// The element types that are numbers, for code that reads tensors of any of them.

#include <cstdint>
#include <type_traits>
#include <utility>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/type_meta.h"

namespace caffe2rt {

// Calls `f` with a std::type_identity<T> of the element type. Returns false, without a call, if the
// elements are not numbers. bool counts as a number: 0 or 1.
template <class F>
bool WithNumberType(TypeMeta meta, F&& f) {
  const auto is = [&]<class T>(std::type_identity<T> type) {
    if (!meta.Match<T>()) return false;
    f(type);
    return true;
  };
  return is(std::type_identity<float>()) || is(std::type_identity<double>()) ||
         is(std::type_identity<float16>()) || is(std::type_identity<int64_t>()) ||
         is(std::type_identity<int32_t>()) || is(std::type_identity<int16_t>()) ||
         is(std::type_identity<int8_t>()) || is(std::type_identity<uint16_t>()) ||
         is(std::type_identity<uint8_t>()) || is(std::type_identity<bool>()) ||
         is(std::type_identity<uint32_t>()) || is(std::type_identity<uint64_t>()) ||
         is(std::type_identity<bfloat16>());
}

// Whether elements of type T can be NaN or infinite.
template <class T>
inline constexpr bool kHasNaN =
    std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

}  // namespace caffe2rt
