#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/save.h"

namespace caffe2rt {

void RegisterSaveCuda() { RegisterOperator<SaveOp<CUDAContext>>(CUDA, "Save", __FILE__); }

}  // namespace caffe2rt
