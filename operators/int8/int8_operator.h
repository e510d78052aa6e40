#pragma once
// Int8Operator: the base class of the operators on quantized tensors. It reads the arguments
// Y_scale and Y_zero_point, checks quantized inputs and prepares quantized outputs.
//
//   class Int8ReluOp final : public Int8Operator {
//    public:
//     using Int8Operator::Int8Operator;
//     bool RunOnDevice() override {
//       const QuantizedInput x = InputInt8(0, "X");
//       uint8_t* y = OutputInt8(0, x.tensor->sizes());
//       // In place, OutputInt8 may have moved the elements: read them now.
//       const uint8_t* elements = x.data();
//
// An element stands for the number scale * (stored - zero_point).

#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

inline constexpr int32_t kInt8Highest = 255;

inline constexpr ArgumentSpec<float> kInt8OutputScale{
    "Y_scale", 1, "scale of the output: an element stands for scale * (stored - zero point)"};
inline constexpr ArgumentSpec<int> kInt8OutputZeroPoint{"Y_zero_point", 0,
                                                        "zero point of the output"};

// Nets set it on every operator. Only images have an order, and quantized images are NHWC.
inline constexpr ArgumentSpec<std::string> kInt8UnusedOrder{"order", "NHWC", "has no effect"};

// The quantizations that an operator accepts.
enum class Int8Range {
  kArithmetic,  // a finite scale above 0 and a zero point from 0 to 255
  kAny,         // for operators that do not calculate with elements, and for conversions
};

struct Quantization {
  float scale = 1;
  int32_t zero_point = 0;
};

// A quantized input that has been checked. The quantization is a copy: in place, writing the output
// changes that of the blob.
struct QuantizedInput {
  const Tensor* tensor = nullptr;
  Quantization quantization;
  const uint8_t* data() const { return tensor->data<uint8_t>(); }
};

class Int8Operator : public Operator<CPUContext> {
 public:
  // THROWS if the arguments give a quantization outside `range`.
  Int8Operator(const OperatorDef& def, Workspace* ws, Int8Range range = Int8Range::kArithmetic);

 protected:
  const Quantization& output() const { return output_; }
  // Input `i`, called `name`. THROWS unless it is a quantized tensor of uint8 elements with a
  // quantization inside the operator's range.
  QuantizedInput InputInt8(int i, const char* name) const;
  // The tensor of bias `i`, a quantized tensor with `size` int32 elements. Its scale and zero point
  // have no effect: a bias has the scale of the products. THROWS if the input is anything else.
  const int32_t* InputInt8Bias(int i, int64_t size) const;
  // Gives output `i` the shape and the quantization of the arguments, and memory.
  uint8_t* OutputInt8(int i, IntArrayRef dims);
  // THROWS unless the arguments repeat the quantization of input 0. For operators that only move
  // or choose elements.
  void CheckKeepsQuantization(const QuantizedInput& x) const;

 private:
  const Int8Range range_;
  const Quantization output_;
};

// Registers a schema with the arguments of Int8Operator, and that the type has no gradient.
OpSchema& RegisterInt8Schema(const std::string& type, const char* file);

// The memory of operators whose prepared weights depend on the instruction set.
MemoryTraits MemoryOfInt8Weights();

// For kernels that run with a Relu: the least stored element of the output.
inline int32_t LowestInt8(const Quantization& output, bool relu) {
  return relu ? output.zero_point : 0;
}

}  // namespace caffe2rt
