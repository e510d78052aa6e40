#pragma once
// DLPack: the exchange format of tensors between libraries (version 0.x, capsules named "dltensor").
// Tensors on the CPU. All functions REQUIRE the interpreter's lock.

#include <nanobind/nanobind.h>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// Makes the blob's tensor one over the memory of a DLPack capsule, without a copy. THROWS if it is
// not on the CPU, not in row-major order, or has an element type that the library does not have.
void ShareDLPack(nanobind::handle capsule, Tensor* tensor);
// A DLPack capsule over the memory of the tensor.
nanobind::object DLPackOf(Tensor* tensor);

}  // namespace caffe2rt
