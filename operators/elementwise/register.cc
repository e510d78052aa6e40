#include "operators/elementwise/register.h"

namespace caffe2rt {

void RegisterElementwiseOperators() {
  RegisterActivations();
  RegisterArithmetic();
  RegisterCast();
  RegisterComparisons();
  RegisterConditional();
  RegisterCopies();
  RegisterDropout();
  RegisterFiniteChecks();
  RegisterLogic();
  RegisterNary();
  RegisterPow();
  RegisterPRelu();
  RegisterUnaryMath();
  RegisterWhere();
}

}  // namespace caffe2rt
