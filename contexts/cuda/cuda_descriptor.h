#pragma once
// What the CPU library knows of CUDA before libcaffe2_cuda is loaded. Includes no CUDA header.

#include "caffe2_core/device/device_descriptor.h"

namespace caffe2rt {

DeviceDescriptor CudaDescriptor();

// Whether this build contains libcaffe2_cuda, and the module if it is linked in, or null if it is a
// separate library. The build chooses cuda_absent.cc, cuda_linked.cc or cuda_shared.cc to define
// both functions.
bool CudaIsInThisBuild();
const DeviceModule* LinkedCudaModule();

}  // namespace caffe2rt
