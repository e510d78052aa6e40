// Kernels of And, Or, Xor of bools, and their bitwise versions, which accept integers too.

#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kLogic)>;

}  // namespace caffe2rt
