#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/tensor_protos_db_input.h"

namespace caffe2rt {

void RegisterTensorProtosDbInputCuda() {
  RegisterOperator<TensorProtosDBInputOp<CUDAContext>>(CUDA, "TensorProtosDBInput", __FILE__);
}

}  // namespace caffe2rt
