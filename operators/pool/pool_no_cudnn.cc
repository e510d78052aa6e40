// Where cuDNN's headers were missing when this was built.

#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind, const WindowGeometry&, bool,
                                           std::string* reason) {
  *reason = CudnnProblem();
  return nullptr;
}

}  // namespace caffe2rt
