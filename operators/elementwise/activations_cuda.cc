// The activation functions on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/primitives/activation_functions.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

void RegisterActivationsCuda() { RegisterUnaryOperators<CUDAContext>(kActivations, __FILE__); }

}  // namespace caffe2rt
