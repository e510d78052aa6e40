// Add, Sub, Mul, Div on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterArithmeticCuda() { RegisterBinaryOperators<CUDAContext>(kArithmetic, __FILE__); }

}  // namespace caffe2rt
