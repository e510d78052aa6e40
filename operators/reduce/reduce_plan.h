#pragma once
// Reductions over any dimensions of a dense tensor on the CPU; cuda_reduce.h has them for CUDA.
//
//   plan.Make(X.sizes(), reduced);                 // reduced[i]: whether dimension i is reduced
//   Reduce<SumOf>(context, plan, x, y, &scratch);  // y: one value for each index of the others
//
// The accumulator (SumOf here) is a struct of static functions. V is an element or a vector of
// elements:
//   Map(V& x)                  applied to each element first
//   Combine(V& a, const V& b)  adds b to a; elements are combined approximately in order
//   Neutral(T first)           initial value of an additional accumulator; `first` is one of the
//                              elements
//   Empty<T>()                 result if there are no elements
//   Finish(T a, int64_t n)     result for the n elements combined in `a`
// The input is read once, in memory order. A plan does not allocate.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

// A reduction as a nest of loops. Neighbouring dimensions that are all reduced or all kept are
// merged into one loop; dimensions of size 1 are dropped. The two innermost loops form a block.
class [[gnu::visibility("default")]] ReducePlan {
 public:
  struct Loop {
    int64_t size;
    int64_t y_stride;  // 0 for a reduced dimension
  };

  // REQUIRES: `reduced` has one entry for each dimension.
  void Make(IntArrayRef dims, const std::vector<char>& reduced);

  int64_t output_size() const { return output_size_; }
  int64_t reduced_size() const { return reduced_size_; }  // elements for each output
  const Loop& inner() const { return inner_; }
  const Loop& middle() const { return middle_; }
  // The loops outside the block, outermost first.
  int outer_count() const { return outer_count_; }
  const Loop& outer(int i) const { return outer_[static_cast<size_t>(i)]; }

  // Calls function(x, y, first) with the offsets of each block of middle().size times inner().size
  // elements. `first` is whether no earlier block contributed to y. REQUIRES: output_size() and
  // reduced_size() are above 0.
  template <class Function>
  void ForEachBlock(const Function& function) const {
    if (outer_count_ == 0) return function(int64_t{0}, int64_t{0}, true);
    const int64_t block = inner_.size * middle_.size;
    const int64_t total = output_size_ * reduced_size_;
    std::array<int64_t, Tensor::kMaxRank> index{};
    int64_t y = 0;
    int reduced_steps = 0;  // number of reduced loops whose counter is not 0
    for (int64_t x = 0; x < total; x += block) {
      function(x, y, reduced_steps == 0);
      for (int i = outer_count_ - 1; i >= 0; --i) {
        const Loop& loop = outer_[static_cast<size_t>(i)];
        int64_t& counter = index[static_cast<size_t>(i)];
        const bool goes = loop.y_stride == 0;
        if (goes && counter == 0) ++reduced_steps;
        y += loop.y_stride;
        if (++counter < loop.size) break;
        counter = 0;
        if (goes) --reduced_steps;
        y -= loop.y_stride * loop.size;
      }
    }
  }

  // Calls function(x, y) with the offsets of each element and of its result. REQUIRES: as above.
  template <class Function>
  void ForEachElement(const Function& function) const {
    ForEachBlock([&](int64_t x, int64_t y, bool) {
      for (int64_t j = 0; j < middle_.size; ++j, y += middle_.y_stride) {
        for (int64_t i = 0, at = y; i < inner_.size; ++i, at += inner_.y_stride) function(x++, at);
      }
    });
  }

 private:
  int64_t output_size_ = 1;
  int64_t reduced_size_ = 1;
  Loop inner_{1, 1}, middle_{1, 0};
  std::array<Loop, Tensor::kMaxRank> outer_;  // only the first outer_count_ are used
  int outer_count_ = 0;
};

namespace internal {

// Combines a row of n >= 1 elements into *y; with `fresh`, *y is overwritten. Floats use two vector
// accumulators. Integers use a scalar loop, which the compiler may vectorize by itself: elements of
// integer vectors must not overflow, while wrapping scalars may.
template <class Accumulate, class T>
CAFFE2RT_SIMD_INLINE inline void ReduceRow(int64_t n, const T* x, bool fresh, T* y) {
  typedef T Lanes __attribute__((vector_size(64)));
  constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));
  T sum = x[0];
  Accumulate::Map(sum);
  if (!fresh) {
    const T next = sum;
    sum = *y;
    Accumulate::Combine(sum, next);
  }
  int64_t i = 1;
  if (!std::is_integral_v<T> && n > 2 * kLanes) {
    Lanes a = Lanes{} + Accumulate::Neutral(sum), b = a, v, w;
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      std::memcpy(&v, x + i, sizeof(v));
      std::memcpy(&w, x + i + kLanes, sizeof(w));
      Accumulate::Map(v);
      Accumulate::Map(w);
      Accumulate::Combine(a, v);
      Accumulate::Combine(b, w);
    }
    Accumulate::Combine(a, b);
    for (int64_t l = 0; l < kLanes; ++l) {
      const T lane = a[l];
      Accumulate::Combine(sum, lane);
    }
  }
  for (; i < n; ++i) {
    T next = x[i];
    Accumulate::Map(next);
    Accumulate::Combine(sum, next);
  }
  *y = sum;
}

// Reduces one block of `middle` times `inner` elements.
template <class Accumulate>
struct ReduceKernel {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(ReducePlan::Loop inner, ReducePlan::Loop middle, bool first,
                                       const T* x, T* y) const {
    const int64_t n = inner.size;
    for (int64_t j = 0; j < middle.size; ++j) {
      const bool fresh = first && (j == 0 || middle.y_stride != 0);
      if (inner.y_stride == 0) {
        ReduceRow<Accumulate>(n, x, fresh, y);
      } else if (fresh) {
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) {
          T next = x[i];
          Accumulate::Map(next);
          y[i] = next;
        }
      } else {
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) {
          T next = x[i], sum = y[i];
          Accumulate::Map(next);
          Accumulate::Combine(sum, next);
          y[i] = sum;
        }
      }
      x += n;
      y += middle.y_stride;
    }
  }
};

}  // namespace internal

// Reduces x to y, which has plan.output_size() elements and must not be x. `scratch` is only used
// on devices.
template <class Accumulate, class T>
void Reduce([[maybe_unused]] CPUContext& context, const ReducePlan& plan, const T* x, T* y,
            [[maybe_unused]] Tensor* scratch = nullptr) {
  const int64_t n = plan.output_size();
  if (n == 0) return;
  if (plan.reduced_size() == 0) {
    for (int64_t i = 0; i < n; ++i) y[i] = Accumulate::template Empty<T>();
    return;
  }
  if constexpr (requires { typename Accumulate::OfOne; }) {
    if (plan.reduced_size() == 1) return Reduce<typename Accumulate::OfOne>(context, plan, x, y);
  }
  const internal::ReduceKernel<Accumulate> kernel{};
  plan.ForEachBlock([&](int64_t x_offset, int64_t y_offset, bool first) {
    RunSimd(kernel, plan.inner(), plan.middle(), first, x + x_offset, y + y_offset);
  });
  for (int64_t i = 0; i < n; ++i) y[i] = Accumulate::Finish(y[i], plan.reduced_size());
}

}  // namespace caffe2rt
