#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/reduce/cuda_reduce.h"
#include "operators/reduce/reduce_front_back.h"

namespace caffe2rt {

// The lengths are on the device; the kernel reports invalid ones.
template <class Accumulate, class T>
void CheckLengths(CUDAContext&, int64_t, int64_t, const int*) {}

namespace {

template <bool kFront, class Accumulate, class... Types>
void RegisterFrontBackCuda(const char* type) {
  RegisterOperator<ReduceFrontBackOp<CUDAContext, kFront, Accumulate, Types...>>(CUDA, type,
                                                                                 __FILE__);
  RegisterOperator<ReduceFrontBackGradientOp<CUDAContext, kFront, Accumulate, Types...>>(
      CUDA, MakeString(type, "Gradient"), __FILE__);
}

}  // namespace

void RegisterReduceFrontBackCuda() {
  RegisterFrontBackCuda<true, SumOf, float, double, int32_t, int64_t>("ReduceFrontSum");
  RegisterFrontBackCuda<true, MeanOf, float, double, int32_t, int64_t>("ReduceFrontMean");
  RegisterFrontBackCuda<true, MaxOrZero, float>("ReduceFrontMax");
  RegisterFrontBackCuda<false, SumOf, float, double, int32_t, int64_t>("ReduceBackSum");
  RegisterFrontBackCuda<false, MeanOf, float, double, int32_t, int64_t>("ReduceBackMean");
  RegisterFrontBackCuda<false, MaxOrZero, float>("ReduceBackMax");
}

}  // namespace caffe2rt
