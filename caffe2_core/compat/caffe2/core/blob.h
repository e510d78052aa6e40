#pragma once
// Blobs, and access to the tensors in them.
#include <string>
#include <utility>

#include "caffe2/core/common.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/typeid.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2 {

using ::caffe2rt::Blob;
using ::caffe2rt::BlobGetMutableTensor;
using ::caffe2rt::BlobGetTensor;
using ::caffe2rt::BlobIsTensorType;
using ::caffe2rt::BlobSetTensor;

inline bool BlobIsInt8TensorCPUType(const Blob& blob) {
  return blob.IsType<::caffe2rt::Int8TensorCPU>();
}

// The tensor of the blob, with that shape, device and element type, and with memory.
inline ::caffe2rt::Tensor* BlobGetMutableTensor(Blob* blob, at::IntArrayRef dims,
                                                at::TensorOptions options) {
  ::caffe2rt::Tensor* tensor = BlobGetMutableTensor(blob, options.device().type());
  tensor->Resize(dims);
  tensor->raw_mutable_data(options.dtype());
  return tensor;
}
inline ::caffe2rt::Tensor XBlobGetMutableTensor(Blob* blob, at::IntArrayRef dims,
                                                at::TensorOptions options) {
  return *BlobGetMutableTensor(blob, dims, options);
}
// A tensor that shares the memory of the blob's tensor, or an unshaped one if the blob holds none.
inline ::caffe2rt::Tensor BlobGetTensorOrUndefined(const Blob& blob) {
  return blob.IsType<::caffe2rt::Tensor>() ? blob.Get<::caffe2rt::Tensor>() : ::caffe2rt::Tensor();
}

}  // namespace caffe2
