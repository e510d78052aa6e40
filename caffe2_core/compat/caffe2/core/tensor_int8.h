#pragma once
// Int8TensorCPU: the quantized tensor of the Int8 operators.
#include "caffe2/core/tensor.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2 {
namespace int8 {
using ::caffe2rt::Int8TensorCPU;
}  // namespace int8
}  // namespace caffe2
