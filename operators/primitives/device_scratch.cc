#include "operators/primitives/device_scratch.h"

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cuda/cuda_handles.h"

namespace caffe2rt {

void* ScratchBytes(Tensor* scratch, int64_t nbytes) {
  scratch->Resize(nbytes);
  return scratch->mutable_data<uint8_t>();
}

void* StreamScratch(CUDAContext& context, int64_t nbytes) {
  return CudnnWorkspace(context, static_cast<size_t>(nbytes));
}

}  // namespace caffe2rt
