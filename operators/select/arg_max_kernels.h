#pragma once
// The search of ArgMax and ArgMin, on the CPU and on CUDA.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/simd.h"
#include "operators/select/axis_span.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Whether a is better than b.
template <bool kMax>
struct Beats {
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T a, T b) const {
    return kMax ? a > b : a < b;
  }
};

// Writes the index of the best element for each outer and inner index of X[outer][size][inner].
// `best` is scratch memory.
template <class T, class Better>
void FindBest(CPUContext&, const AxisSpan& span, const T* x, int64_t* out, std::vector<T>* best,
              Better better) {
  if (span.inner == 1) {
    for (int64_t i = 0; i < span.outer; ++i, x += span.size) {
      int64_t index = 0;
      for (int64_t j = 1; j < span.size; ++j) {
        if (better(x[j], x[index])) index = j;
      }
      out[i] = index;
    }
    return;
  }
  // Processes the rows in memory order.
  for (int64_t i = 0; i < span.outer; ++i, out += span.inner) {
    std::fill(out, out + span.inner, 0);
    if (span.size == 0) continue;
    best->assign(x, x + span.inner);
    x += span.inner;
    for (int64_t j = 1; j < span.size; ++j, x += span.inner) {
      for (int64_t p = 0; p < span.inner; ++p) {
        if (!better(x[p], (*best)[static_cast<size_t>(p)])) continue;
        (*best)[static_cast<size_t>(p)] = x[p];
        out[p] = j;
      }
    }
  }
}
// The same on CUDA, for float, double, int32_t and int64_t and Better = Beats. Does not use `best`.
template <class T, class Better>
void FindBest(CUDAContext& context, const AxisSpan& span, const T* x, int64_t* out,
              std::vector<T>* best, Better better);

}  // namespace caffe2rt
