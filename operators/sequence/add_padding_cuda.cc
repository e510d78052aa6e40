#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/sequence/add_padding.h"

namespace caffe2rt {

void RegisterAddPaddingCuda() {
  RegisterOperator<AddPaddingOp<CUDAContext>>(CUDA, "AddPadding", __FILE__);
}

}  // namespace caffe2rt
