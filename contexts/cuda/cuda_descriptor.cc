#include "contexts/cuda/cuda_descriptor.h"

#include "contexts/cuda/cuda_options.h"

namespace caffe2rt {

DeviceDescriptor CudaDescriptor() {
  return {.type = CUDA,
          .name = "CUDA",
          .aliases = {"gpu"},
          .module_file = CAFFE2_CUDA_SONAME,
          .in_this_build = CudaIsInThisBuild(),
          .linked = LinkedCudaModule,
          .engines = {"CUDNN"},
          .blob_suffix = "gpu",
          .copy_from_cpu = "CopyCPUToGPU",
          .copy_to_cpu = "CopyGPUToCPU",
          .flags = CudaFlags};
}

}  // namespace caffe2rt
