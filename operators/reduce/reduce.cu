// Reductions on CUDA.
//
// With one output, many blocks share the work, and large sums use CUB. With few outputs, a warp or a
// block computes each. With many outputs whose elements are next to each other in the input, a
// thread computes each, so that a warp reads contiguous memory.

#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/cub.h"
#include "operators/primitives/reduce_all.cuh"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_kernels.h"

namespace caffe2rt {

namespace {

template <class Accumulate, class T>
CAFFE2RT_HOST_DEVICE T MappedElement(const T* x) {
  T value = *x;
  Accumulate::Map(value);
  return value;
}

template <class Accumulate>
struct CombineOf {
  template <class T>
  CAFFE2RT_HOST_DEVICE T operator()(T a, T b) const {
    Accumulate::Combine(a, b);
    return a;
  }
};

template <class Accumulate, class T>
struct ReduceToOne {
  using Value = T;
  int64_t n;
  const T* x;
  T* y;
  CAFFE2RT_HOST_DEVICE T Start() const { return Accumulate::Neutral(MappedElement<Accumulate>(x)); }
  CAFFE2RT_HOST_DEVICE T At(int64_t i) const { return MappedElement<Accumulate>(x + i); }
  CAFFE2RT_HOST_DEVICE T Combine(T a, T b) const { return CombineOf<Accumulate>()(a, b); }
  CAFFE2RT_HOST_DEVICE void Finish(T result) const { *y = Accumulate::Finish(result, n); }
};

// The elements of output i begin at kept.Find(i); its element r is at distance reduced.Find(r) from
// there.
template <class Accumulate, class T>
struct ReduceEach {
  LoopNest<1> kept, reduced;
  const T* x;
  T* y;

  // A thread computes one output.
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const T* const from = x + Offset(kept, i);
    T result = MappedElement<Accumulate>(from);
    for (int64_t r = 1; r < reduced.total(); ++r) {
      Accumulate::Combine(result, MappedElement<Accumulate>(from + Offset(reduced, r)));
    }
    y[i] = Accumulate::Finish(result, reduced.total());
  }
  // A warp or a block computes one output.
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const T* const from = x + Offset(kept, row.index());
    const T neutral = Accumulate::Neutral(MappedElement<Accumulate>(from));
    const T result = row.Reduce(
        reduced.total(), neutral, CombineOf<Accumulate>(),
        [=, this](int64_t r) { return MappedElement<Accumulate>(from + Offset(reduced, r)); });
    row.Once([=, this] { y[row.index()] = Accumulate::Finish(result, reduced.total()); });
  }

 private:
  CAFFE2RT_HOST_DEVICE static int64_t Offset(const LoopNest<1>& nest, int64_t i) {
    int64_t at;
    nest.Find(i, &at);
    return at;
  }
};

template <class T>
struct ReducedNothing {
  T value;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = value; }
};

}  // namespace

template <class Accumulate, class T>
void ReduceNested(CUDAContext& context, const ReduceNest& nest, const T* x, T* y, Tensor* scratch) {
  const int64_t n = nest.outputs, elements = nest.elements;
  if (n == 0) return;
  if (elements == 0) {
    const ReducedNothing<T> kernel{Accumulate::template Empty<T>(), y};
    return ForEach(context, n, kernel, "ReducedNothing");
  }
  if constexpr (requires { typename Accumulate::OfOne; }) {
    if (elements == 1) {
      return ReduceNested<typename Accumulate::OfOne>(context, nest, x, y, scratch);
    }
  }
  constexpr int64_t kManyElements = 65536;
  if (n == 1) {
    if constexpr (std::is_same_v<Accumulate, SumOf>) {
      if (elements >= kManyElements) return math::SumByCub(context, elements, x, y, scratch);
    }
    return ReduceAll(context, elements, ReduceToOne<Accumulate, T>{elements, x, y}, scratch,
                     "Reduce");
  }
  const ReduceEach<Accumulate, T> kernel{nest.kept, nest.reduced, x, y};
  constexpr int64_t kManyOutputs = 4096, kFewElements = 32;
  if (nest.side_by_side ? n >= kManyOutputs || elements <= kFewElements : elements <= 4) {
    ForEach(context, n, kernel, "Reduce");
  } else {
    ForEachRowOf(context, elements, n, kernel, "Reduce");
  }
}

#define CAFFE2RT_REDUCE(Accumulate, T) \
  template void ReduceNested<Accumulate>(CUDAContext&, const ReduceNest&, const T*, T*, Tensor*);
#define CAFFE2RT_REDUCE_ALL_TYPES(Accumulate) \
  CAFFE2RT_REDUCE(Accumulate, float)          \
  CAFFE2RT_REDUCE(Accumulate, double)         \
  CAFFE2RT_REDUCE(Accumulate, int32_t)        \
  CAFFE2RT_REDUCE(Accumulate, int64_t)
CAFFE2RT_REDUCE_ALL_TYPES(SumOf)
CAFFE2RT_REDUCE_ALL_TYPES(MeanOf)
CAFFE2RT_REDUCE_ALL_TYPES(MaxOf)
CAFFE2RT_REDUCE_ALL_TYPES(MinOf)
CAFFE2RT_REDUCE(MaxOrZero, float)
CAFFE2RT_REDUCE(SumOfSizes, float)
CAFFE2RT_REDUCE(RootOfSumOfSquares, float)
CAFFE2RT_REDUCE(SumOfSquares, float)
CAFFE2RT_REDUCE(SumOfSquares, double)
CAFFE2RT_REDUCE(MeanOfSquares, float)
CAFFE2RT_REDUCE(MeanOfSquares, double)
#undef CAFFE2RT_REDUCE_ALL_TYPES
#undef CAFFE2RT_REDUCE

}  // namespace caffe2rt
