#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/iter.h"

namespace caffe2rt {

void RegisterIterCuda() {
  RegisterOperator<IterOp<CUDAContext>>(CUDA, "Iter", __FILE__);
  RegisterOperator<AtomicIterOp<CUDAContext>>(CUDA, "AtomicIter", __FILE__);
}

}  // namespace caffe2rt
