#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/cuda_reduce.h"
#include "operators/reduce/sum_elements.h"

namespace caffe2rt {

void RegisterSumElementsCuda() {
  RegisterOperator<SumElementsOp<CUDAContext, SumOf, MeanOf, float>>(CUDA, "SumElements", __FILE__);
  RegisterOperator<SumElementsGradientOp<CUDAContext>>(CUDA, "SumElementsGradient", __FILE__);
  RegisterOperator<SumElementsOp<CUDAContext, SumOf, SumOf, int32_t>>(CUDA, "SumElementsInt",
                                                                      __FILE__);
  RegisterOperator<SumElementsOp<CUDAContext, SumOfSquares, MeanOfSquares, float, double>>(
      CUDA, "SumSqrElements", __FILE__);
}

}  // namespace caffe2rt
