#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/split.h"

namespace caffe2rt {

void RegisterSplitCuda() {
  RegisterOperator<SplitOp<CUDAContext>>(CUDA, "Split", __FILE__);
  RegisterOperator<SplitOp<CUDAContext>>(CUDA, "DepthSplit", __FILE__);
}

}  // namespace caffe2rt
