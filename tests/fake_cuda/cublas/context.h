#pragma once

// The handle of the fake cuBLAS, and helpers of its functions.

#include <cublas_v2.h>

#include "element/element.h"
#include "element/operation.h"

// The struct behind cublasHandle_t. Must be used by one thread at a time, as in cuBLAS.
struct cublasContext {
  int device = 0;
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  void* memory = nullptr;  // of "handle_bytes"
};

namespace fakecuda {

// Whether the handle was created and not yet destroyed.
bool IsAlive(cublasHandle_t handle);

// alpha or beta. In host memory it is read at the call, in device memory when the operation runs.
class Scalar {
 public:
  Scalar(cublasHandle_t handle, Element type, const void* ptr)
      : type_(type), on_device_(handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE), ptr_(ptr) {
    if (!on_device_ && ptr != nullptr) value_ = Load(type, ptr, 0);
  }
  double Get() const { return on_device_ ? Load(type_, ptr_, 0) : value_; }
  bool Valid(const char* function) const {
    if (ptr_ == nullptr) return false;
    return !on_device_ || CheckRange(function, "scalar", ptr_, SizeOf(type_));
  }

 private:
  Element type_;
  bool on_device_;
  const void* ptr_;
  double value_ = 0;
};

inline cublasStatus_t Status(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

#define FAKECUBLAS_HANDLE(handle) \
  if (!::fakecuda::IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED

}  // namespace fakecuda
