#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/shape/flatten.h"

namespace caffe2rt {

void RegisterFlattenCuda() { RegisterOperator<FlattenOp<CUDAContext>>(CUDA, "Flatten", __FILE__); }

}  // namespace caffe2rt
