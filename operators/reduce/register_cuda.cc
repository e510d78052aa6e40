#include "operators/reduce/register_cuda.h"

namespace caffe2rt {

void RegisterReduceCudaOperators() {
  RegisterReduceFrontBackCuda();
  RegisterReductionsCuda();
}

}  // namespace caffe2rt
