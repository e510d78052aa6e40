#include "contexts/cuda/cuda_libraries.h"

#include "caffe2_core/base/flags.h"

namespace caffe2rt {

CudaLibraryOptions& GlobalCudaLibraryOptions() {
  static CudaLibraryOptions* const options = new CudaLibraryOptions;
  return *options;
}

void RegisterCudaLibraryFlags() {
  RegisterFlag("caffe2_allow_tf32", &GlobalCudaLibraryOptions().allow_tf32,
               "let CUDA multiply 32-bit numbers with the precision of TF32", __FILE__);
}

}  // namespace caffe2rt
