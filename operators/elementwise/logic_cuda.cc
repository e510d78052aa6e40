// And, Or and Xor of bools, and BitwiseAnd, BitwiseOr and BitwiseXor, on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/binary.h"
#include "operators/elementwise/binary_functions.h"

namespace caffe2rt {

void RegisterLogicCuda() { RegisterBinaryOperators<CUDAContext>(kLogic, __FILE__); }

}  // namespace caffe2rt
