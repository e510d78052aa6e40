// Kernels of the activation functions.

#include "operators/primitives/activation_functions.h"
#include "operators/elementwise/map.cuh"

namespace caffe2rt {

template struct CudaKernels<decltype(kActivations)>;

}  // namespace caffe2rt
