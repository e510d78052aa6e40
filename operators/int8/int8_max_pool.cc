// Int8MaxPool, Int8MaxPoolRelu: the largest element of windows that slide over quantized images.
// Padding is never the largest; a window that lies in it altogether takes the nearest pixel.

#include <cstring>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/window_arguments.h"
#include "operators/int8/int8_pool.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void MaxInt8Row(const uint8_t* x, int64_t n, uint8_t* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] < x[i] ? x[i] : y[i];
}

template <bool kRelu>
class Int8MaxPoolOp final : public Int8PoolOp {
 public:
  Int8MaxPoolOp(const OperatorDef& def, Workspace* ws)
      : Int8PoolOp(def, ws, Padding::kNearestPixel) {}

 private:
  void CheckQuantization(const QuantizedInput& x) override { CheckKeepsQuantization(x); }
  void PoolPixel(const Int8PoolWindow& window, int) override {
    std::memset(window.y, LowestInt8(output(), kRelu), static_cast<size_t>(window.channels));
    for (int64_t row = 0; row < window.rows; ++row) {
      const uint8_t* pixel = window.x + row * window.row_stride;
      for (int64_t column = 0; column < window.columns; ++column, pixel += window.channels) {
        MaxInt8Row(pixel, window.channels, window.y);
      }
    }
  }
};

}  // namespace

void RegisterInt8MaxPool() {
  RegisterInt8PoolSchema("Int8MaxPool", __FILE__,
                         "Computes the largest element of each window of quantized images.");
  RegisterCpuOperator<Int8MaxPoolOp<false>>("Int8MaxPool", __FILE__);
  RegisterInt8PoolSchema(
      "Int8MaxPoolRelu", __FILE__,
      "Computes the largest element of each window of quantized images, at least 0.");
  RegisterCpuOperator<Int8MaxPoolOp<true>>("Int8MaxPoolRelu", __FILE__);
}

}  // namespace caffe2rt
