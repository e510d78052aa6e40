// For builds without CUDA.

#include "contexts/cuda/cuda_descriptor.h"

namespace caffe2rt {

bool CudaIsInThisBuild() { return false; }
const DeviceModule* LinkedCudaModule() { return nullptr; }

}  // namespace caffe2rt
