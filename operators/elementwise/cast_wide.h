#pragma once
// Cast from and to the types that Caffe2 does not have: uint32, uint64 and bfloat16.

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

inline bool IsWideCastType(TensorProto_DataType type) {
  return type == TensorProto::UINT32 || type == TensorProto::UINT64 ||
         type == TensorProto::BFLOAT16;
}

// Y = X with elements of type `to`, if one of the types is one of these three; returns false otherwise.
// Both are on the CPU and have the same shape. Half floats are cast, too. Rules as in cast_kernels.h;
// for uint64, floats that are NaN or not below 2^64 become 0. THROWS if X has no numbers.
bool CastWide(const Tensor& X, TensorProto_DataType to, Tensor* Y);

}  // namespace caffe2rt
