#include "operators/io/register_cuda.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/io/checkpoint.h"
#include "operators/io/create_db.h"
#include "operators/io/db_exists.h"
#include "operators/io/load.h"
#include "operators/io/save.h"

namespace caffe2rt {

void RegisterIoCudaOperators() {
  RegisterOperator<CheckpointOp<CUDAContext>>(CUDA, "Checkpoint", __FILE__);
  RegisterOperator<CreateDBOp<CUDAContext>>(CUDA, "CreateDB", __FILE__);
  RegisterOperator<DBExistsOp<CUDAContext>>(CUDA, "DBExists", __FILE__);
  RegisterOperator<LoadOp<CUDAContext>>(CUDA, "Load", __FILE__);
  RegisterOperator<SaveOp<CUDAContext>>(CUDA, "Save", __FILE__);
}

}  // namespace caffe2rt
