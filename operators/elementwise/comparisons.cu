// Kernels of LT, LE, GT, GE, EQ, NE.

#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kComparisons)>;

}  // namespace caffe2rt
