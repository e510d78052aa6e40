#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/flatten_to_vec.h"

namespace caffe2rt {

void RegisterFlattenToVecCuda() {
  RegisterOperator<FlattenToVecOp<CUDAContext>>(CUDA, "FlattenToVec", __FILE__);
}

}  // namespace caffe2rt
