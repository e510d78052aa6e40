#pragma once
// What the CPU library knows of CUDA before libcaffe2_cuda is loaded. Includes no header of CUDA.

#include "caffe2_core/device/device_descriptor.h"

namespace caffe2rt {

DeviceDescriptor CudaDescriptor();

// Whether this build has libcaffe2_cuda, and the module that is linked in; null when it is a
// library of its own. The build picks the one of cuda_absent.cc, cuda_linked.cc and cuda_shared.cc
// that defines them.
bool CudaIsInThisBuild();
const DeviceModule* LinkedCudaModule();

}  // namespace caffe2rt
