#pragma once
// What an operator does if cuDNN does not support a call: it runs its native kernels. Only for files
// that are built if cuDNN's headers are available.

#include "contexts/cuda/cudnn_library.h"
#include "operators/common/cuda_engine.h"

namespace caffe2rt {

// Returns whether a call with this status has been executed. If cuDNN does not support it, tells
// `choice` and returns false. THROWS for every other failure; the parts are the text of the error.
template <class... Parts>
bool CudnnDid(cudnnStatus_t status, CudaEngineChoice* choice, const Parts&... parts) {
  if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED) {
    choice->Refused(CudnnStatusText(status));
    return false;
  }
  CUDNN_ENFORCE(status, parts...);
  return true;
}

}  // namespace caffe2rt
