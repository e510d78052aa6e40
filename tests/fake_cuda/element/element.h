#pragma once

// Reads and writes elements of the types of cuBLAS and cuDNN as double.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fakecuda {

enum class Element { kFloat, kDouble, kHalf, kBFloat16, kInt8, kInt32, kUint8, kInt64 };

inline size_t SizeOf(Element type) {
  switch (type) {
    case Element::kDouble:
    case Element::kInt64:
      return 8;
    case Element::kHalf:
    case Element::kBFloat16:
      return 2;
    case Element::kInt8:
    case Element::kUint8:
      return 1;
    default:
      return 4;
  }
}

inline double Load(Element type, const void* data, int64_t index) {
  switch (type) {
    case Element::kFloat:
      return static_cast<const float*>(data)[index];
    case Element::kDouble:
      return static_cast<const double*>(data)[index];
    case Element::kHalf:
      return __half2float(static_cast<const __half*>(data)[index]);
    case Element::kBFloat16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
    case Element::kInt8:
      return static_cast<const int8_t*>(data)[index];
    case Element::kInt32:
      return static_cast<const int32_t*>(data)[index];
    case Element::kUint8:
      return static_cast<const uint8_t*>(data)[index];
    case Element::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(data)[index]);
  }
  return 0;
}

// Rounds to the nearest integer, clamped to [lowest, highest]. NaN becomes 0.
template <class T>
T ToInteger(double value, double lowest, double highest) {
  if (!(value == value)) return 0;
  return static_cast<T>(std::nearbyint(std::clamp(value, lowest, highest)));
}

// Rounds once: halves are converted directly from double.
inline void Store(Element type, void* data, int64_t index, double value) {
  switch (type) {
    case Element::kFloat:
      static_cast<float*>(data)[index] = static_cast<float>(value);
      break;
    case Element::kDouble:
      static_cast<double*>(data)[index] = value;
      break;
    case Element::kHalf:
      static_cast<__half*>(data)[index] = __double2half(value);
      break;
    case Element::kBFloat16:
      static_cast<__nv_bfloat16*>(data)[index] = __double2bfloat16(value);
      break;
    case Element::kInt8:
      static_cast<int8_t*>(data)[index] = ToInteger<int8_t>(value, -128, 127);
      break;
    case Element::kInt32:
      static_cast<int32_t*>(data)[index] = ToInteger<int32_t>(value, -2147483648.0, 2147483647.0);
      break;
    case Element::kUint8:
      static_cast<uint8_t*>(data)[index] = ToInteger<uint8_t>(value, 0, 255);
      break;
    case Element::kInt64:
      static_cast<int64_t*>(data)[index] = static_cast<int64_t>(value);
      break;
  }
}

}  // namespace fakecuda
