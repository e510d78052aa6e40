#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/db_exists.h"

namespace caffe2rt {

void RegisterDbExistsCuda() {
  RegisterOperator<DBExistsOp<CUDAContext>>(CUDA, "DBExists", __FILE__);
}

}  // namespace caffe2rt
