// Handles, versions and names of errors.

#include <cstdio>

#include "cudnn/descriptors.h"

namespace fakecuda {

cudnnStatus_t FromCudnn(cudnnDataType_t type, Element* element) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      *element = Element::kFloat;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_DOUBLE:
      *element = Element::kDouble;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_HALF:
      *element = Element::kHalf;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_BFLOAT16:
      *element = Element::kBFloat16;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_INT8:
      *element = Element::kInt8;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_UINT8:
      *element = Element::kUint8;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_INT32:
      *element = Element::kInt32;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_DATA_INT64:
      *element = Element::kInt64;
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

cudnnStatus_t CheckDims(const std::vector<int>& dims) {
  if (dims.empty()) return CUDNN_STATUS_BAD_PARAM;
  if (dims.size() > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  int64_t size = 1;
  for (const int dim : dims) {
    if (dim <= 0) return CUDNN_STATUS_BAD_PARAM;
    size *= dim;
    if (size >= int64_t{1} << 31) return CUDNN_STATUS_NOT_SUPPORTED;
  }
  return CUDNN_STATUS_SUCCESS;
}

Blend ReadBlend(const void* alpha, const void* beta, Element type) {
  const Element factor = type == Element::kDouble ? Element::kDouble : Element::kFloat;
  return {Load(factor, alpha, 0), Load(factor, beta, 0)};
}

bool IsSet(const cudnnTensorStruct* tensor) {
  return tensor != nullptr && !tensor->layout.dims.empty();
}

cudnnStatus_t Run(cudnnHandle_t handle, const char* name, std::initializer_list<Tensor> tensors,
                  std::function<void()> work) {
  FAKECUDNN_NEED(handle != nullptr);
  for (const Tensor& tensor : tensors) FAKECUDNN_NEED(tensor.data != nullptr);
  for (const Tensor& tensor : tensors) {
    if (!CheckRange(name, tensor.name, tensor.data, tensor.layout.extent_bytes())) {
      return CUDNN_STATUS_EXECUTION_FAILED;
    }
  }
  const cudaError_t error = Enqueue(handle->stream, name, std::move(work));
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

size_t cudnnGetVersion() {
  return static_cast<size_t>(fakecuda_get("cudnn_version", CUDNN_VERSION));
}

size_t cudnnGetMaxDeviceVersion() { return cudnnGetVersion(); }

size_t cudnnGetCudartVersion() {
  return static_cast<size_t>(fakecuda_get("cudnn_cuda_version", CUDART_VERSION));
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  FAKECUDNN_NEED(value != nullptr);
  switch (type) {
    case MAJOR_VERSION:
      *value = CUDNN_MAJOR;
      return CUDNN_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUDNN_MINOR;
      return CUDNN_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUDNN_PATCHLEVEL;
      return CUDNN_STATUS_SUCCESS;
    default:
      return CUDNN_STATUS_BAD_PARAM;
  }
}

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
#define FAKECUDNN_NAME(name) \
  case name:                 \
    return #name
    FAKECUDNN_NAME(CUDNN_STATUS_SUCCESS);
    FAKECUDNN_NAME(CUDNN_STATUS_NOT_INITIALIZED);
    FAKECUDNN_NAME(CUDNN_STATUS_BAD_PARAM);
    FAKECUDNN_NAME(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
    FAKECUDNN_NAME(CUDNN_STATUS_NOT_SUPPORTED);
    FAKECUDNN_NAME(CUDNN_STATUS_INTERNAL_ERROR);
    FAKECUDNN_NAME(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
    FAKECUDNN_NAME(CUDNN_STATUS_EXECUTION_FAILED);
    FAKECUDNN_NAME(CUDNN_STATUS_EXECUTION_FAILED_CUDART);
#undef FAKECUDNN_NAME
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}

void cudnnGetLastErrorString(char* message, size_t size) {
  if (message != nullptr && size > 0) *message = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  FAKECUDNN_NEED(handle != nullptr);
  int device = 0;
  if (!Begin(__func__) || cudaGetDevice(&device) != cudaSuccess) {
    return CUDNN_STATUS_NOT_INITIALIZED;
  }
  void* memory = nullptr;
  if (!AllocateForHandle(&memory)) return CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  *handle = new cudnnContext;
  (*handle)->memory = memory;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  if (handle != nullptr && handle->memory != nullptr) cudaFree(handle->memory);
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  FAKECUDNN_NEED(handle != nullptr);
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  FAKECUDNN_NEED(handle != nullptr && stream != nullptr);
  *stream = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
