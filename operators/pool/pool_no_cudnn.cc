// Where cuDNN's headers were missing when this was built.

#include "operators/pool/cuda_pool.h"

namespace caffe2rt {

std::string WhyNoCudnnPool() { return "this library was built without cuDNN's headers"; }

std::unique_ptr<CudaPoolPlan> NewCudnnPool(PoolKind, const WindowGeometry&, bool,
                                           std::string* reason) {
  *reason = WhyNoCudnnPool();
  return nullptr;
}

}  // namespace caffe2rt
