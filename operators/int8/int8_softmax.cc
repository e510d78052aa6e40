// Int8Softmax: exp(x) divided by the sum of exp over a row.
//
// As in Caffe2 a row is everything behind dimension 0, whatever the argument axis. The exponentials
// come from a table of integers, scaled so that the sum of a row fits into 32 bits.

#include <algorithm>
#include <array>
#include <cmath>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_probability.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kInt8SoftmaxAxis{
    "axis", 1, "has no effect: a row is everything behind dimension 0"};

class Int8SoftmaxOp final : public Int8Operator {
 public:
  Int8SoftmaxOp(const OperatorDef& def, Workspace* ws) : Int8Operator(def, ws) {
    CheckProbabilityQuantization(output());
    (void)ReadArgument(kInt8SoftmaxAxis);
  }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CAFFE_ENFORCE_GE(x.tensor->dim(), 1, "rank of input 0 (X)");
    uint8_t* y = OutputInt8(0, x.tensor->sizes());
    const int64_t rows = x.tensor->dim(0);
    if (rows == 0) return true;
    const int64_t size = x.tensor->size_from_dim(1);
    CAFFE_ENFORCE_GT(size, 0, "elements of a row of input 0 (X) of shape ", x.tensor->sizes());
    if (size != row_size_ || x.quantization.scale != scale_) MakeTable(size, x.quantization.scale);
    const uint8_t* row = x.data();
    for (int64_t i = 0; i < rows; ++i, row += size, y += size) SoftmaxRow(row, size, y);
    return true;
  }

 private:
  // Entry i is exp((i - 255) * scale), so that the greatest element of a row reads entry 255.
  void MakeTable(int64_t size, float scale) {
    constexpr double kSumLimit = 4294967295.0, kEntryLimit = 8388607.0;  // 2^32 - 1, 2^23 - 1
    const double one = std::min(kSumLimit / static_cast<double>(size), kEntryLimit);
    for (size_t i = 0; i < table_.size(); ++i) {
      const double x = (static_cast<double>(i) - kInt8Highest) * double{scale};
      table_[i] = static_cast<uint32_t>(std::lrint(one * std::exp(x)));
    }
    row_size_ = size;
    scale_ = scale;
  }

  void SoftmaxRow(const uint8_t* x, int64_t size, uint8_t* y) const {
    const uint32_t* entries = table_.data() + kInt8Highest - *std::max_element(x, x + size);
    // Rounding may carry the sum of very long rows past 32 bits.
    uint64_t sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += entries[x[i]];
    sum = std::max<uint64_t>(sum, 1);
    for (int64_t i = 0; i < size; ++i) {
      const uint64_t result = (uint64_t{entries[x[i]]} * kProbabilitySteps + sum / 2) / sum;
      y[i] = static_cast<uint8_t>(std::min<uint64_t>(result, kInt8Highest));
    }
  }

  int64_t row_size_ = 0;
  float scale_ = 0;
  std::array<uint32_t, kInt8Highest + 1> table_{};
};

}  // namespace

void RegisterInt8Softmax() {
  RegisterInt8Schema("Int8Softmax", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kInt8SoftmaxAxis, kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor; its first dimension counts rows")
      .Output(0, "Y", "a quantized tensor of the shape of X, with scale 1/256 and zero point 0")
      .IdenticalTypeAndShape()
      .SetDoc(
          "Computes the softmax of each row of a quantized tensor. Y_scale must be 1/256 and "
          "Y_zero_point 0.");
  RegisterCpuOperator<Int8SoftmaxOp>("Int8Softmax", __FILE__);
}

}  // namespace caffe2rt
