#pragma once
// Queries of whether work has finished. CUDA records "not ready" as its last error; this clears it.

#include <cuda_runtime_api.h>

namespace caffe2rt {

// Clears the last error if `code`, the result of a query, is cudaErrorNotReady. Returns `code`.
inline cudaError_t ForgetNotReady(cudaError_t code) {
  if (code == cudaErrorNotReady) cudaGetLastError();
  return code;
}

}  // namespace caffe2rt
