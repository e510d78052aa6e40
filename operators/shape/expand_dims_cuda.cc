#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/expand_dims.h"

namespace caffe2rt {

void RegisterExpandDimsCuda() {
  RegisterOperator<ExpandDimsOp<CUDAContext>>(CUDA, "ExpandDims", __FILE__);
}

}  // namespace caffe2rt
