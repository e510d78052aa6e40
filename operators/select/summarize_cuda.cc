#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/summarize.h"

namespace caffe2rt {

void RegisterSummarizeCuda() {
  RegisterOperator<SummarizeOp<CUDAContext>>(CUDA, "Summarize", __FILE__);
}

}  // namespace caffe2rt
