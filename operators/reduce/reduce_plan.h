#pragma once
// Reductions over any of the dimensions of a dense tensor; on the CPU, and in cuda_reduce.h on
// CUDA.
//
//   plan.Make(X.sizes(), reduced);                       // reduced[i]: dimension i goes
//   Reduce<SumOf>(context, plan, x, y, &scratch);   // y: a value for each place in the others
//
// What is accumulated is a struct of static functions, whose values V are elements or vectors of
// them:
//   Map(V& x)                       of each element
//   Combine(V& a, const V& b)       a takes b in; elements are combined in about their order
//   Neutral(T first)                what a further accumulator begins with, `first` being known to
//                                   be among the elements
//   Empty<T>()                      the result over no elements
//   Finish(T a, int64_t n)          the result from the n elements of `a`
// The input is read once, in its order. A plan does not allocate.

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

// Shapes as nests of loops: neighbouring dimensions that stay, or go, together are one; those of
// size 1 are gone.
class ReducePlan {
 public:
  struct Loop {
    int64_t size;
    int64_t y_stride;  // 0 for a dimension that goes
  };

  // REQUIRES: as many entries in `reduced` as dimensions.
  void Make(IntArrayRef dims, const std::vector<char>& reduced);

  int64_t output_size() const { return output_size_; }
  int64_t reduced_size() const { return reduced_size_; }  // elements behind each output
  const Loop& inner() const { return inner_; }
  const Loop& middle() const { return middle_; }
  // The loops around the block, outermost first.
  int outer_count() const { return outer_count_; }
  const Loop& outer(int i) const { return outer_[static_cast<size_t>(i)]; }

  // Calls function(x, y, first) with the offsets of each block of middle().size times inner().size
  // elements; `first` when nothing was accumulated at y by earlier blocks. REQUIRES: output_size()
  // and reduced_size() above 0.
  template <class Function>
  void ForEachBlock(const Function& function) const {
    if (outer_count_ == 0) return function(int64_t{0}, int64_t{0}, true);
    const int64_t block = inner_.size * middle_.size;
    const int64_t total = output_size_ * reduced_size_;
    std::array<int64_t, Tensor::kMaxRank> index{};
    int64_t y = 0;
    int reduced_steps = 0;  // counters of reduced loops that are not 0
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

 private:
  int64_t output_size_ = 1;
  int64_t reduced_size_ = 1;
  Loop inner_{1, 1}, middle_{1, 0};
  std::array<Loop, Tensor::kMaxRank> outer_;  // the first outer_count_ count
  int outer_count_ = 0;
};

namespace internal {

// y takes in a row of n >= 1 elements; with `fresh` it is made of them alone. Several accumulators
// of floats run side by side; integers the compiler may reorder by itself, and lanes of them may
// not overflow.
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

// A block: `middle` times `inner` elements.
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

// y has plan.output_size() elements and is not x. `scratch` is memory for devices.
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
