// For builds with CUDA linked in (CAFFE2_CUDA_STATIC).

#include "caffe2_core/device/cuda_module.h"

extern "C" const caffe2rt::CudaModule* caffe2rt_cuda_module();  // operators/cuda_module.cc

namespace caffe2rt {

bool CudaIsInThisBuild() { return true; }
const CudaModule* LinkedCudaModule() { return caffe2rt_cuda_module(); }

}  // namespace caffe2rt
