#pragma once
// CUDAGuard: sets the device of the calling thread for a scope.
#include "caffe2/core/common_gpu.h"

namespace c10::cuda {
using CUDAGuard = ::caffe2::DeviceGuard;
}  // namespace c10::cuda
namespace at::cuda {
using ::c10::cuda::CUDAGuard;
}  // namespace at::cuda
