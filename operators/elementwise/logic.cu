// Kernels of And, Or, Xor, BitwiseAnd, BitwiseOr and BitwiseXor.

#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kLogic)>;

}  // namespace caffe2rt
