#pragma once
// The functions of caffe2/core/common_gpu.h for sources that are compiled without CUDA.
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/compat/caffe2rt_cuda/cuda_functions.h"
#include "contexts/cuda/cuda_options.h"

#ifndef CUDA_ENFORCE
#define CUDA_ENFORCE(condition, ...) CAFFE2RT_HOST_STATUS_ENFORCE("CUDA", condition, __VA_ARGS__)
#endif
#define CUBLAS_ENFORCE(condition, ...) \
  CAFFE2RT_HOST_STATUS_ENFORCE("cuBLAS", condition, __VA_ARGS__)
#define CUDNN_ENFORCE(condition, ...) CAFFE2RT_HOST_STATUS_ENFORCE("cuDNN", condition, __VA_ARGS__)
#define CURAND_ENFORCE(condition, ...) \
  CAFFE2RT_HOST_STATUS_ENFORCE("cuRAND", condition, __VA_ARGS__)
// 0 means success in all of these libraries. The message contains only the status number, because
// its text would require the library.
#define CAFFE2RT_HOST_STATUS_ENFORCE(library, condition, ...)          \
  do {                                                                 \
    const int caffe2rt_status = static_cast<int>(condition);           \
    if (caffe2rt_status != 0) {                                        \
      CAFFE_THROW(#condition, " failed with status ", caffe2rt_status, \
                  " of " library __VA_OPT__(, ": ", ) __VA_ARGS__);    \
    }                                                                  \
  } while (false)

namespace caffe2 {

using ::caffe2rt::CudaMemoryPoolType;

inline int NumCudaDevices() {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr ? cuda->num_devices() : 0;
}
inline bool HasCudaGPU() { return NumCudaDevices() > 0; }
// The version as 1000 * major + 10 * minor; 0 without CUDA.
inline int CudaVersion() {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr ? cuda->runtime_version() : 0;
}
inline int CaffeCudaGetDevice() { return ::caffe2rt::EnforceCudaFunctions().current_device(); }
inline void CaffeCudaSetDevice(const int id) {
  ::caffe2rt::EnforceCudaFunctions().set_current_device(id);
}
inline int GetGPUIDForPointer(const void* pointer) {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr ? cuda->device_of_pointer(pointer) : -1;
}
inline std::string DeviceQuery(const int id) {
  return ::caffe2rt::EnforceCudaFunctions().device_query(id);
}
inline bool TensorCoreAvailable() {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr && cuda->tensor_cores();
}
inline bool GetCudaPeerAccessPattern(std::vector<std::vector<bool>>* pattern) {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr && cuda->peer_access(pattern);
}
inline CudaMemoryPoolType GetCudaMemoryPoolType() {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr ? ::caffe2rt::GetCudaMemoryPoolType() : CudaMemoryPoolType::NONE;
}
inline size_t cudnnCompiledVersion() { return 0; }
// 0 without cuDNN.
inline size_t cudnnRuntimeVersion() {
  const ::caffe2rt::CudaFunctions* const cuda = ::caffe2rt::FindCudaFunctions();
  return cuda != nullptr ? cuda->cudnn_version() : 0;
}

// Sets the calling thread's device, and restores the previous one at the end of the scope, unless
// this process has not started it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : previous_(CaffeCudaGetDevice()) {
    CaffeCudaSetDevice(device);  // also if it is current, because the runtime may be elsewhere
  }
  ~DeviceGuard() { cuda_.restore_device(previous_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  const ::caffe2rt::CudaFunctions& cuda_ = ::caffe2rt::EnforceCudaFunctions();
  const int previous_;
};

}  // namespace caffe2
