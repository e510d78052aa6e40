// For builds with CUDA as a separate library.

#include "contexts/cuda/cuda_descriptor.h"

namespace caffe2rt {

bool CudaIsInThisBuild() { return true; }
const DeviceModule* LinkedCudaModule() { return nullptr; }

}  // namespace caffe2rt
