#pragma once
// Tensors and numpy arrays: copies, and views without a copy.
//
// All functions REQUIRE the interpreter's lock. numpy is imported by the first call that needs it.

#include <nanobind/nanobind.h>

#include <string>

#include "caffe2_core/tensor/blob.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

bool IsNumpyArray(nanobind::handle object);
// Copies the elements of a numpy array to the blob, which becomes a tensor on the device of the
// option; without one, on the CPU. Waits until a device has the data. THROWS for element types that
// Caffe2 does not have.
void FeedArray(nanobind::handle array, const DeviceOption* option, Blob* blob);
void FeedArray(nanobind::handle array, Tensor* tensor);  // on the CPU
// A tensor on the CPU over the memory of a numpy array, without a copy: it keeps the array alive and
// is read-only (Tensor::MarkReadOnly). Copies if the array is small, is not in row-major order, or
// has elements that are not numbers of the machine's byte order.
Tensor TensorOverArray(nanobind::handle array);

// A new numpy array with the elements; those of a string tensor are bytes. THROWS if the tensor was
// never shaped, or has an element type that numpy does not have.
nanobind::object FetchTensor(const Tensor& tensor);
// What FetchBlob returns: an array; bytes for a string; a tuple (data, scale, zero_point) for a
// quantized tensor; for other objects bytes that name the type.
nanobind::object FetchBlob(const std::string& name, const Blob& blob);

// A numpy array over the memory of the tensor, which it keeps alive. It is writable.
nanobind::object ViewOfTensor(Tensor* tensor);
// The same for a tensor that nothing else writes. A tensor on another device, and one with strings,
// is copied.
nanobind::object ArrayOverTensor(const Tensor& tensor);
// numpy's dtype of the elements. THROWS if numpy has no such type.
nanobind::object NumpyTypeOf(const TypeMeta& meta);
// The dimensions as a tuple.
nanobind::object ShapeOf(const Tensor& tensor);

}  // namespace caffe2rt
