#pragma once
// A small model and functions that create and read its tensors, for tests of predictors.

#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

// w = {10, 20}
inline constexpr char kInit[] = R"(op { type: "GivenTensorFill" output: "w"
  arg { name: "shape" ints: 2 } arg { name: "values" floats: 10 floats: 20 } })";
// y = x + w, z = max(y, 0)
inline constexpr char kPredict[] = R"(name: "sum"
  op { type: "Add" input: "x" input: "w" output: "y" }
  op { type: "Relu" input: "y" output: "z" }
  external_input: "x" external_input: "w" external_output: "z")";

inline Tensor Vector(std::vector<float> values) {
  Tensor tensor(CPU);
  tensor.CopyFrom(values);
  return tensor;
}

inline std::vector<float> Values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

}  // namespace caffe2rt::test
