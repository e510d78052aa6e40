// For builds with CUDA as a library of its own.

#include "caffe2_core/device/cuda_module.h"

namespace caffe2rt {

bool CudaIsInThisBuild() { return true; }
const CudaModule* LinkedCudaModule() { return nullptr; }

}  // namespace caffe2rt
