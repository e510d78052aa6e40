#include "operators/matmul/register_cuda.h"

namespace caffe2rt {

void RegisterMatmulCudaOperators() {
  RegisterBatchMatMulCuda();
  RegisterFCCuda();
  RegisterMatMulCuda();
}

}  // namespace caffe2rt
