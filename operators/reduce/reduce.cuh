#pragma once
// Reductions on CUDA: reduce_plan.h's Reduce for a CUDAContext.
//
// One output: many blocks share it, large sums are CUB's. Few outputs: a block for each. Many
// outputs whose neighbours stand side by side in the input: a thread for each, so that a warp reads
// what lies together.

#include <array>
#include <cstdint>
#include <type_traits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/loop_nest.h"
#include "operators/math/cub.h"
#include "operators/math/reduce_all.cuh"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

namespace internal {

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

// Output i begins at kept.Find(i); element r of its own lies reduced.Find(r) further on.
template <class Accumulate, class T>
struct ReduceEach {
  LoopNest<1> kept, reduced;
  const T* x;
  T* y;

  // A thread for an output.
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const T* const from = x + Offset(kept, i);
    T result = MappedElement<Accumulate>(from);
    for (int64_t r = 1; r < reduced.total(); ++r) {
      Accumulate::Combine(result, MappedElement<Accumulate>(from + Offset(reduced, r)));
    }
    y[i] = Accumulate::Finish(result, reduced.total());
  }
  // A block for an output.
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

// Splits the plan's loops into those that stay and those that go.
inline void SplitLoops(const ReducePlan& plan, LoopNest<1>* kept, LoopNest<1>* reduced) {
  int64_t stride = plan.output_size() * plan.reduced_size();
  const auto add = [&](const ReducePlan::Loop& loop) {
    stride /= loop.size;
    (loop.y_stride == 0 ? reduced : kept)->Add(loop.size, {stride});
  };
  for (int i = 0; i < plan.outer_count(); ++i) add(plan.outer(i));
  add(plan.middle());
  add(plan.inner());
}

}  // namespace internal

template <class Accumulate, class T>
void Reduce(CUDAContext& context, const ReducePlan& plan, const T* x, T* y, Tensor* scratch) {
  const int64_t n = plan.output_size(), elements = plan.reduced_size();
  if (n == 0) return;
  if (elements == 0) {
    const internal::ReducedNothing<T> kernel{Accumulate::template Empty<T>(), y};
    return ForEach(context, n, kernel, "ReducedNothing");
  }
  if constexpr (requires { typename Accumulate::OfOne; }) {
    if (elements == 1) {
      return Reduce<typename Accumulate::OfOne>(context, plan, x, y, scratch);
    }
  }
  constexpr int64_t kManyElements = 65536;
  if (n == 1) {
    if constexpr (std::is_same_v<Accumulate, SumOf>) {
      if (elements >= kManyElements) return math::SumByCub(context, elements, x, y, scratch);
    }
    return ReduceAll(context, elements, internal::ReduceToOne<Accumulate, T>{elements, x, y},
                     scratch, "Reduce");
  }
  internal::ReduceEach<Accumulate, T> kernel{{}, {}, x, y};
  internal::SplitLoops(plan, &kernel.kept, &kernel.reduced);
  constexpr int64_t kManyOutputs = 4096, kFewElements = 32;
  const bool side_by_side = plan.inner().y_stride != 0;
  if (side_by_side ? n >= kManyOutputs || elements <= kFewElements : elements <= 4) {
    ForEach(context, n, kernel, "Reduce");
  } else {
    ForEachRow(context, n, kernel, "Reduce");
  }
}

}  // namespace caffe2rt
