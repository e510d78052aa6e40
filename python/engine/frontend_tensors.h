#pragma once
// The classes TensorCPU and DLPackTensorCPU of the front end.

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "caffe2_core/tensor/blob.h"

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

void BindFrontendTensors(nanobind::module_& m);

}  // namespace caffe2rt
