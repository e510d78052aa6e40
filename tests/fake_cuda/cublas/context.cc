// Handles and their settings.

#include "cublas/context.h"

#include "element/live_handles.h"

namespace fakecuda {
namespace {

LiveHandles<cublasHandle_t>& TheLive() {
  static auto* live = new LiveHandles<cublasHandle_t>;
  return *live;
}

}  // namespace

bool IsAlive(cublasHandle_t handle) { return TheLive().Contains(handle); }

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  int device = 0;
  if (!Begin("cublasCreate") || cudaGetDevice(&device) != cudaSuccess) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  void* memory = nullptr;
  if (!AllocateForHandle(&memory)) return CUBLAS_STATUS_ALLOC_FAILED;
  auto* made = new cublasContext;
  made->device = device;
  made->memory = memory;
  TheLive().Add(made);
  *handle = made;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  FAKECUBLAS_HANDLE(handle);
  TheLive().Remove(handle);
  if (handle->memory != nullptr) cudaFree(handle->memory);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (type == MAJOR_VERSION) {
    *value = CUBLAS_VER_MAJOR;
  } else if (type == MINOR_VERSION) {
    *value = CUBLAS_VER_MINOR;
  } else if (type == PATCH_LEVEL) {
    *value = CUBLAS_VER_PATCH;
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Resets the workspace to the library's own, as cuBLAS does.
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  FAKECUBLAS_HANDLE(handle);
  if (!Begin("cublasSetStream")) return CUBLAS_STATUS_INTERNAL_ERROR;
  handle->stream = stream;
  handle->workspace = nullptr;
  handle->workspace_bytes = 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  FAKECUBLAS_HANDLE(handle);
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  FAKECUBLAS_HANDLE(handle);
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes > 0 && !CheckRange(__func__, "workspace", workspace, bytes)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  FAKECUBLAS_HANDLE(handle);
  if (!Begin(__func__)) return CUBLAS_STATUS_INTERNAL_ERROR;
  if ((mode & 0xf) > CUBLAS_FP32_EMULATED_BF16X9_MATH) return CUBLAS_STATUS_INVALID_VALUE;
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  FAKECUBLAS_HANDLE(handle);
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  FAKECUBLAS_HANDLE(handle);
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  FAKECUBLAS_HANDLE(handle);
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  FAKECUBLAS_HANDLE(handle);
  handle->atomics = mode;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define FAKECUBLAS_NAME(name) \
  case name:                  \
    return #name
    FAKECUBLAS_NAME(CUBLAS_STATUS_SUCCESS);
    FAKECUBLAS_NAME(CUBLAS_STATUS_NOT_INITIALIZED);
    FAKECUBLAS_NAME(CUBLAS_STATUS_ALLOC_FAILED);
    FAKECUBLAS_NAME(CUBLAS_STATUS_INVALID_VALUE);
    FAKECUBLAS_NAME(CUBLAS_STATUS_ARCH_MISMATCH);
    FAKECUBLAS_NAME(CUBLAS_STATUS_MAPPING_ERROR);
    FAKECUBLAS_NAME(CUBLAS_STATUS_EXECUTION_FAILED);
    FAKECUBLAS_NAME(CUBLAS_STATUS_INTERNAL_ERROR);
    FAKECUBLAS_NAME(CUBLAS_STATUS_NOT_SUPPORTED);
    FAKECUBLAS_NAME(CUBLAS_STATUS_LICENSE_ERROR);
#undef FAKECUBLAS_NAME
  }
  return "unknown status";
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

}  // extern "C"
