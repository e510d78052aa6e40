#pragma once
// Int8TensorCPU: the quantized tensor of the Int8 operators.
#include "caffe2/core/tensor.h"

namespace caffe2 {
namespace int8 {
struct Int8TensorCPU {
  float scale{1.0};
  int32_t zero_point{0};
  Tensor t{CPU};
};
}  // namespace int8
}  // namespace caffe2
