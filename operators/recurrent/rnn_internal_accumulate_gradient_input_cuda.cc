#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/recurrent/rnn_internal_accumulate_gradient_input.h"

namespace caffe2rt {

void RegisterRnnInternalAccumulateGradientInputCuda() {
  RegisterOperator<AccumulateGradientInputOp<CUDAContext>>(
      CUDA, "rnn_internal_accumulate_gradient_input", __FILE__);
}

}  // namespace caffe2rt
