#pragma once
// Whether work is over, without leaving a trace: that it is not, CUDA keeps as the last error.

#include <cuda_runtime_api.h>

namespace caffe2rt {

// cudaErrorNotReady, of an event or a stream, is no longer the last error.
inline cudaError_t ForgetNotReady(cudaError_t code) {
  if (code == cudaErrorNotReady) cudaGetLastError();
  return code;
}

}  // namespace caffe2rt
