// For builds that link CUDA in (CAFFE2_CUDA_STATIC).

#include "contexts/cuda/cuda_descriptor.h"

extern "C" const caffe2rt::DeviceModule* caffe2rt_cuda_module();  // operators/cuda_module.cc

namespace caffe2rt {

bool CudaIsInThisBuild() { return true; }
const DeviceModule* LinkedCudaModule() { return caffe2rt_cuda_module(); }

}  // namespace caffe2rt
