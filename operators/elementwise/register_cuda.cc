#include "operators/elementwise/register_cuda.h"

namespace caffe2rt {

void RegisterElementwiseCudaOperators() {
  RegisterActivationsCuda();
  RegisterArithmeticCuda();
  RegisterCastCuda();
  RegisterComparisonsCuda();
  RegisterCopiesCuda();
  RegisterDropoutCuda();
  RegisterFiniteChecksCuda();
  RegisterLogicCuda();
  RegisterNaryCuda();
  RegisterPowCuda();
  RegisterPReluCuda();
  RegisterUnaryMathCuda();
  RegisterWhereCuda();
}

}  // namespace caffe2rt
