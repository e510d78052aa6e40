// Kernels of Add, Sub, Mul, Div and their gradients.

#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/map.cuh"
#include "operators/elementwise/operand_gradient.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kArithmetic)>;
template struct CudaGradientKernels<decltype(kArithmetic)>;
template void SetToZero(CUDAContext&, int64_t, float*);
template void SetToZero(CUDAContext&, int64_t, double*);
template void SetToZero(CUDAContext&, int64_t, int32_t*);
template void SetToZero(CUDAContext&, int64_t, int64_t*);
template void RequireNonZero(CUDAContext&, const int32_t*, int64_t);
template void RequireNonZero(CUDAContext&, const int64_t*, int64_t);

}  // namespace caffe2rt
