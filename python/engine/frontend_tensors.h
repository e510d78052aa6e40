#pragma once
// Tensors and numpy arrays, and the classes TensorCPU and DLPackTensorCPU.
//
// All functions REQUIRE the interpreter's lock. numpy is imported by the first call that needs it.

#include <nanobind/nanobind.h>

#include <memory>

#include "caffe2_core/tensor/blob.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// A blob's tensor on the CPU. Holds the blob, and asks it for its tensor in each call: a tensor that
// was replaced is never used.
class FrontendTensor {
 public:
  // `blob` is not null.
  explicit FrontendTensor(std::shared_ptr<Blob> blob) : blob_(std::move(blob)) {}
  // THROWS if the blob no longer holds a tensor on the CPU.
  Tensor& get() const;

 private:
  std::shared_ptr<Blob> blob_;
};

// The same, passed to operators of type PythonDLPack.
class FrontendDLPackTensor : public FrontendTensor {
 public:
  using FrontendTensor::FrontendTensor;
};

bool IsNumpyArray(nanobind::handle object);
// Copies the elements of a numpy array to the blob, which becomes a tensor on the device of the
// option; without one, on the CPU. Waits until a device has the data. THROWS for element types that
// Caffe2 does not have.
void FeedArray(nanobind::handle array, const DeviceOption* option, Blob* blob);
void FeedArray(nanobind::handle array, Tensor* tensor);  // on the CPU

// A new numpy array with the elements; those of a string tensor are bytes. THROWS if the tensor was
// never shaped, or has an element type that numpy does not have.
nanobind::object FetchTensor(const Tensor& tensor);
// What FetchBlob returns: an array; bytes for a string; a tuple (data, scale, zero_point) for a
// quantized tensor; for other objects bytes that name the type.
nanobind::object FetchBlob(const std::string& name, const Blob& blob);

// A numpy array over the memory of the tensor, which it keeps alive. It is writable.
nanobind::object ViewOfTensor(Tensor* tensor);

void BindFrontendTensors(nanobind::module_& m);
void BindFrontendDLPack(nanobind::class_<FrontendDLPackTensor>& tensor);
// Makes the blob a tensor over the memory of a DLPack capsule, without a copy.
void ShareDLPack(nanobind::handle capsule, Tensor* tensor);
// A DLPack capsule over the memory of the tensor.
nanobind::object DLPackOf(Tensor* tensor);

}  // namespace caffe2rt
