// Kernels of Add, Sub, Mul, Div.

#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kArithmetic)>;
template void RequireNonZero(CUDAContext&, const int32_t*, int64_t);
template void RequireNonZero(CUDAContext&, const int64_t*, int64_t);

}  // namespace caffe2rt
