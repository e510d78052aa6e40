#pragma once
// CUDA names for sources without kernels. No CUDA toolkit is needed: there is no device here, every
// question says so, and only using one is an error.
#include <cstdint>
#include <string>

#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/proto/caffe2_pb.h"

#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#else
typedef struct CUstream_st* cudaStream_t;
#endif

#ifndef CAFFE2_COMPILE_TIME_MAX_GPUS
#define CAFFE2_COMPILE_TIME_MAX_GPUS 16
#endif
#ifndef CUDA_1D_KERNEL_LOOP
#define CUDA_1D_KERNEL_LOOP(i, n) \
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size_t(n); i += blockDim.x * gridDim.x)
#endif
#ifndef CUDA_ENFORCE
#define CUDA_ENFORCE(condition, ...)                                                          \
  do {                                                                                        \
    const auto caffe2rt_error = (condition);                                                  \
    CAFFE_ENFORCE(static_cast<int>(caffe2rt_error) == 0, #condition, " returned CUDA error ", \
                  static_cast<int>(caffe2rt_error) __VA_OPT__(, ) __VA_ARGS__);               \
  } while (false)
#define CUDA_CHECK(condition) CUDA_ENFORCE(condition)
#endif

namespace caffe2 {

constexpr int CAFFE_CUDA_NUM_THREADS = 128;
constexpr int CAFFE_MAXIMUM_NUM_BLOCKS = 4096;

inline int CAFFE_GET_BLOCKS(const int n) {
  const int blocks = (n + CAFFE_CUDA_NUM_THREADS - 1) / CAFFE_CUDA_NUM_THREADS;
  return std::max(1, std::min(blocks, CAFFE_MAXIMUM_NUM_BLOCKS));
}

inline int NumCudaDevices() { return 0; }
inline bool HasCudaGPU() { return NumCudaDevices() > 0; }
inline int CudaVersion() { return 0; }
namespace internal_gpu {
[[noreturn]] inline void ThrowNoCuda() {
  CAFFE_THROW("CUDA: this build has no CUDA part, and a CUDA device was asked for");
}
}  // namespace internal_gpu
inline int CaffeCudaGetDevice() { internal_gpu::ThrowNoCuda(); }
inline void CaffeCudaSetDevice(int /*id*/) { internal_gpu::ThrowNoCuda(); }
inline int GetGPUIDForPointer(const void* /*pointer*/) { return -1; }

}  // namespace caffe2
