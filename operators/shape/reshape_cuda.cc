#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/reshape.h"

namespace caffe2rt {

void RegisterReshapeCuda() { RegisterOperator<ReshapeOp<CUDAContext>>(CUDA, "Reshape", __FILE__); }

}  // namespace caffe2rt
