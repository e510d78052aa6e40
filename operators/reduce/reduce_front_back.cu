// ReduceFrontSum, -Mean, -Max and ReduceBackSum, -Mean, -Max on CUDA.

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_report.h"
#include "operators/reduce/reduce.cuh"
#include "operators/reduce/reduce_front_back.h"

namespace caffe2rt {

namespace {

template <class Accumulate, class T>
struct LengthsKernel {
  int64_t count, stride, next;
  const int* lengths;
  const T* x;
  T* y;
  KernelReport* report;
  const char* too_many;
  const char* none;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const T* const element = x + i * next;
    const int64_t length = lengths[i];
    if (length > count) report->Raise(too_many, i, length, count);
    T sum = *element;
    for (int64_t j = 1; j < length && j < count; ++j) {
      Accumulate::Combine(sum, element[j * stride]);
    }
    if constexpr (std::is_integral_v<T> && std::is_same_v<Accumulate, MeanOf>) {
      if (length == 0) report->Raise(none, i);
      y[i] = Accumulate::Finish(sum, length == 0 ? 1 : length);
    } else {
      y[i] = Accumulate::Finish(sum, length);
    }
  }
};

}  // namespace

// The lengths are on the device: the kernel tells of those that do not fit.
template <class Accumulate, class T>
void CheckLengths(CUDAContext&, int64_t, int64_t, const int*) {}

template <class Accumulate, class T>
void ReduceLengths(CUDAContext& context, int64_t outputs, int64_t count, int64_t stride,
                   int64_t next, const int* lengths, const T* x, T* y) {
  const LengthsKernel<Accumulate, T> kernel{
      .count = count,
      .stride = stride,
      .next = next,
      .lengths = lengths,
      .x = x,
      .y = y,
      .report = ReportOf(context),
      .too_many =
          "element % of input 1 (lengths) is %, want at most %, the elements that there are",
      .none =
          "element % of input 1 (lengths) is 0, want other numbers: integers cannot be divided "
          "by 0"};
  ForEach(context, outputs, kernel, "ReduceLengths");
}

namespace {

template <bool kFront, class Accumulate, class... Types>
void RegisterFrontBackCuda(const char* type) {
  RegisterOperator<ReduceFrontBackOp<CUDAContext, kFront, Accumulate, Types...>>(CUDA, type,
                                                                                 __FILE__);
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
