#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/sequence_mask.h"

namespace caffe2rt {

void RegisterSequenceMaskCuda() {
  RegisterOperator<SequenceMaskOp<CUDAContext>>(CUDA, "SequenceMask", __FILE__);
}

}  // namespace caffe2rt
