#pragma once
// For kernels: conversions between a stored number and the type in which the kernel computes. The
// conversions of float16 itself are for the host only, so float16 is converted here bit by bit;
// Store rounds to the nearest even number. Other types are not converted.

#include <cstdint>
#include <cstring>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/host_device.h"

namespace caffe2rt::math {

CAFFE2RT_HOST_DEVICE inline float16 HalfOf(uint16_t bits) {
  float16 half;
  half.x = bits;
  return half;
}
CAFFE2RT_HOST_DEVICE inline float Load(const float16& half) {
  const uint32_t sign = static_cast<uint32_t>(half.x & 0x8000u) << 16;
  const uint32_t exponent = (half.x >> 10) & 0x1fu, mantissa = half.x & 0x3ffu;
  if (exponent == 0) {
    const float size = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
  const uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
  const uint32_t bits = sign | (wide << 23) | (mantissa << 13);
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
CAFFE2RT_HOST_DEVICE inline void Store(float value, float16* half) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) {
    *half = HalfOf(0x7fff);
  } else if (size >= 0x477ff000u) {
    *half = HalfOf(static_cast<uint16_t>(sign | 0x7c00u));
  } else if (size < 0x38800000u) {  // subnormal half: adding 0.5 rounds
    float shifted;
    memcpy(&shifted, &size, sizeof(shifted));
    shifted += 0.5f;
    uint32_t rounded;
    memcpy(&rounded, &shifted, sizeof(rounded));
    *half = HalfOf(static_cast<uint16_t>(sign | (rounded - 0x3f000000u)));
  } else {
    const uint32_t odd = (size >> 13) & 1u;
    *half = HalfOf(static_cast<uint16_t>(sign | ((size - 0x38000000u + 0xfffu + odd) >> 13)));
  }
}
template <class T>
CAFFE2RT_HOST_DEVICE inline T Load(const T& value) {
  return value;
}
template <class T>
CAFFE2RT_HOST_DEVICE inline void Store(T value, T* to) {
  *to = value;
}

}  // namespace caffe2rt::math
