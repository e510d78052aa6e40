#include "operators/elementwise/register_cuda.h"

namespace caffe2rt {

void RegisterElementwiseCudaOperators() {
  RegisterActivationsCuda();
  RegisterUnaryMathCuda();
}

}  // namespace caffe2rt
