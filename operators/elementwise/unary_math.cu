// Kernels of unary arithmetic, roots, exponentials and trigonometry.

#include "operators/elementwise/map.cuh"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

template struct CudaKernels<decltype(kUnaryMath)>;

}  // namespace caffe2rt
