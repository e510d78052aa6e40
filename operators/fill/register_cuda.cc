#include "operators/fill/register_cuda.h"

namespace caffe2rt {

void RegisterFillCudaOperators() {
  RegisterConstantFillsCuda();
  RegisterRandomFillsCuda();
}

}  // namespace caffe2rt
