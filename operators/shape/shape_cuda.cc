#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/shape.h"

namespace caffe2rt {

void RegisterShapeCuda() { RegisterOperator<ShapeOp<CUDAContext>>(CUDA, "Shape", __FILE__); }

}  // namespace caffe2rt
