#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/size.h"

namespace caffe2rt {

void RegisterSizeCuda() { RegisterOperator<SizeOp<CUDAContext>>(CUDA, "Size", __FILE__); }

}  // namespace caffe2rt
