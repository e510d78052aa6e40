#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/where.h"

namespace caffe2rt {

void RegisterWhereCuda() { RegisterOperator<WhereOp<CUDAContext>>(CUDA, "Where", __FILE__); }

}  // namespace caffe2rt
