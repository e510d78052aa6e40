#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/yellow_fin.h"

namespace caffe2rt {

void RegisterYellowFinCuda() {
  RegisterOperator<YellowFinOp<CUDAContext>>(CUDA, "YellowFin", __FILE__);
}

}  // namespace caffe2rt
