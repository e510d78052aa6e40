// ArgMax and ArgMin on CUDA.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/select/arg_max_kernels.h"

namespace caffe2rt {

namespace {

template <class T>
struct Choice {
  T value;
  int64_t index;
};

// Returns the better of two elements, the first one if they are equal. The first element of the row
// is kept unless another one beats it, so a NaN in first position stays.
template <class T, class Better>
struct BetterChoice {
  Better better;
  CAFFE2RT_HOST_DEVICE Choice<T> operator()(const Choice<T>& a, const Choice<T>& b) const {
    if (better(a.value, b.value)) return a;
    if (better(b.value, a.value)) return b;
    return a.index <= b.index ? a : b;
  }
};

template <class T, class Better>
struct FindBestKernel {
  AxisSpan span;
  const T* x;
  int64_t* out;
  Better better;

  // Element j of the row of result i. Only valid for a span that is not empty.
  CAFFE2RT_HOST_DEVICE T At(int64_t i, int64_t j) const {
    return x[(i / span.inner * span.size + j) * span.inner + i % span.inner];
  }
  // A thread computes one result.
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t index = 0;
    for (int64_t j = 1; j < span.size; ++j) {
      if (better(At(i, j), At(i, index))) index = j;
    }
    out[i] = index;
  }
  // A warp or a block computes one result.
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const Choice<T> first{span.size > 0 ? At(row.index(), 0) : T(0), 0};
    const Choice<T> best =
        row.Reduce(span.size, first, BetterChoice<T, Better>{better}, [=, this](int64_t j) {
          return Choice<T>{At(row.index(), j), j};
        });
    row.Once([=, this] { out[row.index()] = best.index; });
  }
};

}  // namespace

template <class T, class Better>
void FindBest(CUDAContext& context, const AxisSpan& span, const T* x, int64_t* out, std::vector<T>*,
              Better better) {
  const FindBestKernel<T, Better> kernel{span, x, out, better};
  const int64_t results = span.outer * span.inner;
  if (span.inner > 1 && (results >= 4096 || span.size <= 32)) {
    ForEach(context, results, kernel, "FindBest");
  } else {
    ForEachRowOf(context, span.size, results, kernel, "FindBest");
  }
}

#define CAFFE2RT_FIND_BEST(T)                                                                \
  template void FindBest(CUDAContext&, const AxisSpan&, const T*, int64_t*, std::vector<T>*, \
                         Beats<true>);                                                       \
  template void FindBest(CUDAContext&, const AxisSpan&, const T*, int64_t*, std::vector<T>*, \
                         Beats<false>);
CAFFE2RT_FIND_BEST(float)
CAFFE2RT_FIND_BEST(double)
CAFFE2RT_FIND_BEST(int32_t)
CAFFE2RT_FIND_BEST(int64_t)
#undef CAFFE2RT_FIND_BEST

}  // namespace caffe2rt
