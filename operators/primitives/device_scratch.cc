#include "operators/primitives/device_scratch.h"

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

void* ScratchBytes(Tensor* scratch, int64_t nbytes) {
  scratch->Resize(nbytes);
  return scratch->mutable_data<uint8_t>();
}

}  // namespace caffe2rt
