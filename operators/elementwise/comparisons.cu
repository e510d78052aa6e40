// Comparisons of two tensors on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

namespace {

template <class Function>
void RegisterComparisonCuda(const char* type) {
  RegisterBinaryCuda<Function, float, double, int32_t, int64_t, bool>(type, __FILE__);
}

}  // namespace

void RegisterComparisonsCuda() {
  RegisterComparisonCuda<LessFunction>("LT");
  RegisterComparisonCuda<LessEqualFunction>("LE");
  RegisterComparisonCuda<GreaterFunction>("GT");
  RegisterComparisonCuda<GreaterEqualFunction>("GE");
  RegisterComparisonCuda<EqualFunction>("EQ");
  RegisterComparisonCuda<NotEqualFunction>("NE");
}

}  // namespace caffe2rt
