#pragma once
// Rows of codes with a scale and a bias: element = code * scale + bias. A fused row has both behind
// its codes, as two numbers of type S (float or float16). Codes of less than 8 bits are packed, the
// first one in the low bits of a byte.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

struct ScaleAndBias {
  float scale = 0;
  float bias = 0;
};

// The bytes of the scale and the bias of a fused row.
template <class S>
constexpr int64_t kTailBytes = 2 * sizeof(S);

template <int kBits>
constexpr int64_t kCodesPerByte = 8 / kBits;

template <int kBits>
constexpr float kGreatestCode = (1 << kBits) - 1;

template <class S>
ScaleAndBias ReadTail(const uint8_t* tail) {
  S values[2];
  std::memcpy(values, tail, sizeof values);
  return {static_cast<float>(values[0]), static_cast<float>(values[1])};
}

template <class S>
void WriteTail(const ScaleAndBias& row, uint8_t* tail) {
  const S values[2] = {S(row.scale), S(row.bias)};
  std::memcpy(tail, values, sizeof values);
}

// Code `i` of packed codes.
template <int kBits>
uint8_t CodeAt(const uint8_t* codes, int64_t i) {
  if constexpr (kBits == 8) {
    return codes[i];
  } else {
    constexpr int64_t kPerByte = kCodesPerByte<kBits>;
    const int shift = static_cast<int>(i % kPerByte) * kBits;
    return static_cast<uint8_t>(codes[i / kPerByte] >> shift & ((1 << kBits) - 1));
  }
}

// The least and the greatest element. REQUIRES: n >= 1.
template <class T>
std::pair<float, float> RangeOfRow(const T* x, int64_t n) {
  float least = static_cast<float>(x[0]), greatest = least;
  for (int64_t i = 1; i < n; ++i) {
    const auto value = static_cast<float>(x[i]);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  return {least, greatest};
}

// The code of a number of steps that is rounded. Infinities of a row and NaN have no step.
template <int kBits>
uint8_t CodeOfStep(float step) {
  return step >= 0 ? static_cast<uint8_t>(std::min(step, kGreatestCode<kBits>)) : uint8_t{0};
}

// The elements of a fused row of `bytes` bytes. THROWS if it has no room for scale and bias.
template <class S, int kBits = 8>
int64_t FusedElements(int64_t bytes) {
  CAFFE_ENFORCE_GE(bytes, kTailBytes<S>,
                   "bytes of a row of input 0, want at least those of scale and bias");
  return CheckedMultiply<int64_t>(bytes - kTailBytes<S>, kCodesPerByte<kBits>);
}

template <int kBits, class T>
void DequantizeCodes(const uint8_t* x, int64_t n, const ScaleAndBias& row, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = T(static_cast<float>(CodeAt<kBits>(x, i)) * row.scale + row.bias);
  }
}

// THROWS unless input `i` has a scale and a bias for each row of `data`.
inline const float* ScalesOfRows(const Tensor& data, const Tensor& scale_bias, int i) {
  CAFFE_ENFORCE(scale_bias.dim() == 2 && scale_bias.dim(1) == 2 && scale_bias.dim(0) == data.dim(0),
                "input ", i, " (scale_bias) has shape ", scale_bias.sizes(), ", want [",
                data.dim(0), ", 2]: a scale and a bias for each row of input 0 of shape ",
                data.sizes());
  return scale_bias.data<float>();
}

// T: elements; S: scale and bias.
template <class T, class S, int kBits>
class FromFusedRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 0 (scale_bias_quantized_input)");
    const uint8_t* x = X.data<uint8_t>();
    const int64_t bytes = X.dims().back(), n = FusedElements<S, kBits>(bytes);
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_.back() = n;
    T* y = OutputData<T>(0, dims_);
    for (int64_t row = 0; row < X.numel() / bytes; ++row, x += bytes, y += n) {
      DequantizeCodes<kBits>(x, n, ReadTail<S>(x + bytes - kTailBytes<S>), y);
    }
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
