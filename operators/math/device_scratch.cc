#include "operators/math/device_scratch.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

void* ScratchBytes(Tensor* scratch, size_t nbytes) {
  scratch->Resize(CheckedCast<int64_t>(nbytes, "bytes of scratch memory"));
  return scratch->mutable_data<uint8_t>();
}

}  // namespace caffe2rt
