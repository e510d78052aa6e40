// Replaces pool_cudnn.cc in builds without cuDNN's headers.

#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind, const WindowGeometry&, bool,
                                           std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

}  // namespace caffe2rt
