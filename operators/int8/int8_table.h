#pragma once
// Int8TableOp: a function of one quantized element, as a table of its 256 results.
//
// The policy `Function` has
//
//   // THROWS if an argument or the quantization of the output is unsuitable.
//   Function(const ArgumentHelper& args, const Quantization& output);
//   // The result in steps of the output, for an element that stands for scale * steps.
//   float operator()(float scale, float steps) const;
//
// Results are rounded to nearest, halves to even. The table is computed again when
// the quantization of the input changes.

#include <algorithm>
#include <array>

#include "operators/int8/int8_operator.h"

namespace caffe2rt {

template <class Function>
class Int8TableOp final : public Int8Operator {
 public:
  Int8TableOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws), function_(args(), output()) {}

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    if (!has_table_ || x.quantization.scale != input_.scale ||
        x.quantization.zero_point != input_.zero_point) {
      MakeTable(x.quantization);
    }
    uint8_t* y = OutputInt8(0, x.tensor->sizes());
    const uint8_t* elements = x.data();
    for (int64_t i = 0; i < x.tensor->numel(); ++i) y[i] = table_[elements[i]];
    return true;
  }

 private:
  void MakeTable(const Quantization& input) {
    for (size_t i = 0; i < table_.size(); ++i) {
      const int32_t steps = static_cast<int32_t>(i) - input.zero_point;
      const auto low = static_cast<float>(-output().zero_point);
      const auto high = static_cast<float>(kInt8Highest - output().zero_point);
      const float result = std::clamp(function_(input.scale, static_cast<float>(steps)), low, high);
      table_[i] = static_cast<uint8_t>(std::lrint(result) + output().zero_point);
    }
    input_ = input;
    has_table_ = true;
  }

  const Function function_;
  Quantization input_;
  bool has_table_ = false;
  std::array<uint8_t, kInt8Highest + 1> table_{};
};

}  // namespace caffe2rt
