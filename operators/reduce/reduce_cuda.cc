#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/cuda_reduce.h"
#include "operators/reduce/reduce.h"

namespace caffe2rt {

namespace {

template <class Accumulate, class... Types>
void RegisterReductionCuda(const char* type) {
  RegisterOperator<ReduceOp<CUDAContext, Accumulate, Types...>>(CUDA, type, __FILE__);
  RegisterOperator<ReduceGradientOp<CUDAContext, Accumulate, Types...>>(
      CUDA, MakeString(type, "Gradient"), __FILE__);
}

}  // namespace

void RegisterReduceCuda() {
  RegisterReductionCuda<SumOf, float, double, int32_t, int64_t>("ReduceSum");
  RegisterReductionCuda<MeanOf, float>("ReduceMean");
  RegisterReductionCuda<MaxOf, float, double, int32_t, int64_t>("ReduceMax");
  RegisterReductionCuda<MinOf, float, double, int32_t, int64_t>("ReduceMin");
  RegisterReductionCuda<SumOfSizes, float>("ReduceL1");
  RegisterReductionCuda<RootOfSumOfSquares, float>("ReduceL2");
}

}  // namespace caffe2rt
