#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/optimizer/rms_prop.h"

namespace caffe2rt {

void RegisterRmsPropCuda() { RegisterOperator<RmsPropOp<CUDAContext>>(CUDA, "RmsProp", __FILE__); }

}  // namespace caffe2rt
