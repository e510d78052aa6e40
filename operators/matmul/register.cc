#include "operators/matmul/register.h"

namespace caffe2rt {

void RegisterMatmulOperators() {
  RegisterBatchMatMul();
  RegisterFC();
  RegisterMatMul();
}

}  // namespace caffe2rt
