#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/state/counter.h"

namespace caffe2rt {

void RegisterCounterCuda() {
  RegisterOperator<CreateCounterOp<CUDAContext>>(CUDA, "CreateCounter", __FILE__);
  RegisterOperator<ResetCounterOp<CUDAContext>>(CUDA, "ResetCounter", __FILE__);
  RegisterOperator<CountUpOp<CUDAContext>>(CUDA, "CountUp", __FILE__);
  RegisterOperator<CountDownOp<CUDAContext>>(CUDA, "CountDown", __FILE__);
  RegisterOperator<CheckCounterDoneOp<CUDAContext>>(CUDA, "CheckCounterDone", __FILE__);
  RegisterOperator<RetrieveCountOp<CUDAContext>>(CUDA, "RetrieveCount", __FILE__);
}

}  // namespace caffe2rt
