// ReduceFront... and ReduceBack... with lengths on CUDA: a thread computes one output.

#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_front_back_kernels.h"

namespace caffe2rt {

namespace {

template <class Accumulate, class T>
struct LengthsKernel {
  int64_t count, stride, next;
  const int* lengths;
  const T* x;
  T* y;
  KernelReport* report;
  ReportText too_many;
  ReportText none;
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
      .too_many = "element % of input 1 (lengths) is %, want at most %, the number of elements",
      .none =
          "element % of input 1 (lengths) is 0, want another number: integers cannot be divided by "
          "0"};
  ForEach(context, outputs, kernel, "ReduceLengths");
}

#define CAFFE2RT_REDUCE_LENGTHS(Accumulate, T)                                              \
  template void ReduceLengths<Accumulate>(CUDAContext&, int64_t, int64_t, int64_t, int64_t, \
                                          const int*, const T*, T*);
CAFFE2RT_REDUCE_LENGTHS(SumOf, float)
CAFFE2RT_REDUCE_LENGTHS(SumOf, double)
CAFFE2RT_REDUCE_LENGTHS(SumOf, int32_t)
CAFFE2RT_REDUCE_LENGTHS(SumOf, int64_t)
CAFFE2RT_REDUCE_LENGTHS(MeanOf, float)
CAFFE2RT_REDUCE_LENGTHS(MeanOf, double)
CAFFE2RT_REDUCE_LENGTHS(MeanOf, int32_t)
CAFFE2RT_REDUCE_LENGTHS(MeanOf, int64_t)
CAFFE2RT_REDUCE_LENGTHS(MaxOrZero, float)
#undef CAFFE2RT_REDUCE_LENGTHS

}  // namespace caffe2rt
