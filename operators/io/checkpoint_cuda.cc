#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/checkpoint.h"

namespace caffe2rt {

void RegisterCheckpointCuda() {
  RegisterOperator<CheckpointOp<CUDAContext>>(CUDA, "Checkpoint", __FILE__);
}

}  // namespace caffe2rt
