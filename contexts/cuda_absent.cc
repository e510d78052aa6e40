// For builds without CUDA.

#include "caffe2_core/device/cuda_module.h"

namespace caffe2rt {

bool CudaIsInThisBuild() { return false; }
const CudaModule* LinkedCudaModule() { return nullptr; }

}  // namespace caffe2rt
