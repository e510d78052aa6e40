// LT, LE, GT, GE, EQ, NE on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterComparisonsCuda() { RegisterBinaryOperators<CUDAContext>(kComparisons, __FILE__); }

}  // namespace caffe2rt
