#pragma once
// A number of an argument as an element of the type that a tensor has.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"

namespace caffe2rt {

class NumberArgument {
 public:
  // Returns the address of `value` as an element of `type`; it is valid until the next call. THROWS
  // if the type is not numeric, or the value is not a number that it can hold.
  const void* Convert(TypeMeta type, double value, const char* name) {
    DispatchByType<float, double, float16, int32_t, int64_t, uint8_t, int8_t, uint16_t, int16_t,
                   bool>(type, name, [&](auto element) {
      using T = decltype(element);
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        CAFFE_ENFORCE(value == std::trunc(value) && std::abs(value) < 0x1p63, "argument ", name,
                      " is ", value, ", want a number of type ", type.name());
        Store(CheckedCast<T>(static_cast<int64_t>(value), name));
      } else if constexpr (std::is_same_v<T, bool>) {
        Store(value != 0);
      } else {
        Store(T(static_cast<float>(value)));
      }
    });
    return memory_;
  }

 private:
  template <class T>
  void Store(T value) {
    std::memcpy(memory_, &value, sizeof(value));
  }
  alignas(8) unsigned char memory_[8] = {};
};

}  // namespace caffe2rt
