#pragma once
// The functions of caffe2/core/common_gpu.h for sources that are compiled with CUDA.
#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_error.h"
#include "contexts/cuda/cuda_libraries.h"
#if __has_include(<cublas_v2.h>)
#include "contexts/cuda/cublas_library.h"
#endif
#if __has_include(<curand.h>)
#include "contexts/cuda/curand_library.h"
#endif

namespace caffe2 {

using ::caffe2rt::CaffeCudaGetDevice;
using ::caffe2rt::CaffeCudaSetDevice;
using ::caffe2rt::CudaMemoryPoolType;
using ::caffe2rt::DeviceGuard;
using ::caffe2rt::DeviceQuery;
using ::caffe2rt::GetCudaMemoryPoolType;
using ::caffe2rt::GetCudaPeerAccessPattern;
using ::caffe2rt::GetDeviceProperty;
using ::caffe2rt::GetGPUIDForPointer;
using ::caffe2rt::HasCudaGPU;
using ::caffe2rt::NumCudaDevices;
using ::caffe2rt::TensorCoreAvailable;
inline int CudaVersion() { return CUDART_VERSION; }

}  // namespace caffe2
