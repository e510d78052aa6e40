// Int8AveragePool, Int8AveragePoolRelu: the mean of windows that slide over quantized images.
// Padding counts as zeros.
//
// The arithmetic is that of QNNPACK: the sum of a window is multiplied by a 24-bit integer and
// rounded to nearest, halves away from zero.

#include <algorithm>
#include <bit>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_pool.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void AddPixel(const uint8_t* x, int64_t n, int32_t* sums) {
  for (int64_t i = 0; i < n; ++i) sums[i] += x[i];
}

CAFFE2RT_SIMD void ScaleSums(const int32_t* sums, int64_t n, int32_t offset, int32_t multiplier,
                             int32_t shift, int32_t zero_point, int32_t low, uint8_t* y) {
  const int64_t half = int64_t{1} << (shift - 1);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t sum = sums[i] - offset;
    const int64_t product = int64_t{sum} * multiplier + half - (sum < 0 ? 1 : 0);
    // Sums of windows are at most 2^8 steps of the input for each tap, which the factor divides by
    // the number of taps: the result has less than 32 bits.
    int32_t value = static_cast<int32_t>(product >> shift) + zero_point;
    value = value < low ? low : value;
    value = value > kInt8Highest ? kInt8Highest : value;
    y[i] = static_cast<uint8_t>(value);
  }
}

template <bool kRelu>
class Int8AveragePoolOp final : public Int8PoolOp {
 public:
  Int8AveragePoolOp(const OperatorDef& def, Workspace* ws)
      : Int8PoolOp(def, ws, Padding::kNothing) {}

 private:
  bool AllowsOnePixel() const override { return window().global_pooling; }
  void CheckQuantization(const QuantizedInput& x) override {
    constexpr float kLeast = 1.0f / 256, kEnd = 256;
    const float ratio = x.quantization.scale / output().scale;
    CAFFE_ENFORCE(ratio >= kLeast && ratio < kEnd, "scale ", x.quantization.scale,
                  " of input 0 (X) divided by argument Y_scale ", output().scale, " is ", ratio,
                  ", want ", kLeast, " to less than ", kEnd);
  }

  void Prepare(const QuantizedInput& x, int pieces) override {
    constexpr int32_t kMantissaBits = 23, kExponentBias = 127;
    constexpr int64_t kMostTaps = int64_t{1} << kMantissaBits;  // the sum has 31 bits
    const int64_t taps = geometry().kernel_size();
    CAFFE_ENFORCE_LE(taps, kMostTaps, "pixels of a window");
    const float factor = x.quantization.scale / (output().scale * static_cast<float>(taps));
    CAFFE_ENFORCE_GT(factor, 0,
                     "scale of input 0 (X) divided by Y_scale and the pixels of a window");
    const auto bits = std::bit_cast<int32_t>(factor);
    multiplier_ = (bits & ((1 << kMantissaBits) - 1)) | (1 << kMantissaBits);
    shift_ = kExponentBias + kMantissaBits - (bits >> kMantissaBits);
    input_zero_point_ = x.quantization.zero_point;
    if (sums_.size() < static_cast<size_t>(pieces)) sums_.resize(static_cast<size_t>(pieces));
    for (auto& sums : sums_) sums.resize(static_cast<size_t>(geometry().channels));
  }

  void PoolPixel(const Int8PoolWindow& window, int piece) override {
    std::vector<int32_t>& sums = sums_[static_cast<size_t>(piece)];
    std::fill(sums.begin(), sums.end(), 0);
    for (int64_t row = 0; row < window.rows; ++row) {
      const uint8_t* pixel = window.x + row * window.row_stride;
      for (int64_t column = 0; column < window.columns; ++column, pixel += window.channels) {
        AddPixel(pixel, window.channels, sums.data());
      }
    }
    const auto offset = static_cast<int32_t>(window.rows * window.columns * input_zero_point_);
    ScaleSums(sums.data(), window.channels, offset, multiplier_, shift_, output().zero_point,
              LowestInt8(output(), kRelu), window.y);
  }

  int32_t multiplier_ = 0, shift_ = 0, input_zero_point_ = 0;
  std::vector<std::vector<int32_t>> sums_;  // of the channels, for each piece
};

}  // namespace

void RegisterInt8AveragePool() {
  RegisterInt8PoolSchema(
      "Int8AveragePool", __FILE__,
      "Computes the mean of each window of quantized images; padding counts as zeros.");
  RegisterCpuOperator<Int8AveragePoolOp<false>>("Int8AveragePool", __FILE__);
  RegisterInt8PoolSchema("Int8AveragePoolRelu", __FILE__,
                         "Computes the mean of each window of quantized images, at least 0; "
                         "padding counts as zeros.");
  RegisterCpuOperator<Int8AveragePoolOp<true>>("Int8AveragePoolRelu", __FILE__);
}

}  // namespace caffe2rt
