#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/create_db.h"

namespace caffe2rt {

void RegisterCreateDbCuda() {
  RegisterOperator<CreateDBOp<CUDAContext>>(CUDA, "CreateDB", __FILE__);
}

}  // namespace caffe2rt
