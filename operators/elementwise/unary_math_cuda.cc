// Unary arithmetic, roots, exponentials and trigonometry on CUDA.

#include "contexts/cuda/cuda_context.h"
#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

void RegisterUnaryMathCuda() { RegisterUnaryOperators<CUDAContext>(kUnaryMath, __FILE__); }

}  // namespace caffe2rt
