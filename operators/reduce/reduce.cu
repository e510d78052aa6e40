// Reductions over given dimensions on CUDA: ReduceSum and its kin, SumReduceLike, SumElements and
// its kin, RowwiseMax, ColwiseMax, ReduceTailSum.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/reduce.cuh"
#include "operators/reduce/reduce.h"
#include "operators/reduce/row_max.h"
#include "operators/reduce/sum_elements.h"
#include "operators/reduce/sum_reduce_like.h"

namespace caffe2rt {

namespace {

template <class Op>
void RegisterCuda(const char* type) {
  RegisterOperator<Op>(CUDA, type, __FILE__);
}

template <class Accumulate, class... Types>
void RegisterReductionCuda(const char* type) {
  RegisterCuda<ReduceOp<CUDAContext, Accumulate, Types...>>(type);
}

}  // namespace

void RegisterReduceCuda() {
  RegisterReductionCuda<SumOf, float, double, int32_t, int64_t>("ReduceSum");
  RegisterReductionCuda<MeanOf, float>("ReduceMean");
  RegisterReductionCuda<MaxOf, float, double, int32_t, int64_t>("ReduceMax");
  RegisterReductionCuda<MinOf, float, double, int32_t, int64_t>("ReduceMin");
  RegisterReductionCuda<SumOfSizes, float>("ReduceL1");
  RegisterReductionCuda<RootOfSumOfSquares, float>("ReduceL2");

  RegisterCuda<SumReduceLikeOp<CUDAContext>>("SumReduceLike");
  RegisterCuda<SumElementsOp<CUDAContext, SumOf, MeanOf, float>>("SumElements");
  RegisterCuda<SumElementsOp<CUDAContext, SumOf, SumOf, int32_t>>("SumElementsInt");
  RegisterCuda<SumElementsOp<CUDAContext, SumOfSquares, MeanOfSquares, float, double>>(
      "SumSqrElements");

  RegisterCuda<MatrixMaxOp<CUDAContext, true>>("RowwiseMax");
  RegisterCuda<MatrixMaxOp<CUDAContext, false>>("ColwiseMax");
  RegisterCuda<ReduceTailSumOp<CUDAContext>>("ReduceTailSum");
}

}  // namespace caffe2rt
