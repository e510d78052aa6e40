#pragma once
// Int8TensorCPU: the quantized tensor of the Int8 operators. A blob holds it as a type of its own.
//
// An element stands for the number scale * (stored - zero_point). Activations and weights have
// elements of type uint8_t, biases of type int32_t. The struct is plain data with a tensor: it
// checks nothing; operators check what they read.

#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Int8TensorCPU {
  float scale = 1;
  int32_t zero_point = 0;
  Tensor t{CPU};
};

// The tensor in the blob, which may be the tensor of an Int8TensorCPU. Null if there is none.
inline const Tensor* FindTensor(const Blob& blob) {
  if (blob.IsType<Tensor>()) return static_cast<const Tensor*>(blob.GetRaw());
  if (blob.IsType<Int8TensorCPU>()) return &static_cast<const Int8TensorCPU*>(blob.GetRaw())->t;
  return nullptr;
}

}  // namespace caffe2rt
#pragma GCC visibility pop
