#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/rnn_internal_apply_link.h"

namespace caffe2rt {

void RegisterRnnInternalApplyLinkCuda() {
  RegisterOperator<ApplyLinkOp<CUDAContext>>(CUDA, "rnn_internal_apply_link", __FILE__);
}

}  // namespace caffe2rt
