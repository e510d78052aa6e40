#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/select/print.h"

namespace caffe2rt {

void RegisterPrintCuda() { RegisterOperator<PrintOp<CUDAContext>>(CUDA, "Print", __FILE__); }

}  // namespace caffe2rt
