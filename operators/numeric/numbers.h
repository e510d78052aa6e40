#pragma once
// What the operators of this folder share: the element types, axes, and loops over broadcast
// operands.

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/broadcast_loops.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

// Calls function(T{}) with the element type. THROWS for types other than numbers.
template <class Function>
decltype(auto) DispatchNumber(TypeMeta type, const char* subject, Function&& function) {
  return DispatchByType<float, double, int64_t, int32_t, int16_t, int8_t, uint8_t, uint16_t,
                        uint32_t, uint64_t>(type, subject, std::forward<Function>(function));
}

// A tensor as [outer, size, inner] around an axis.
struct NumberAxis {
  size_t at = 0;
  int64_t outer = 1, size = 0, inner = 1;
};
// Negative axes count from the end. THROWS if the axis is out of range.
inline NumberAxis NumberAxisOf(IntArrayRef dims, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "axis is ", axis, ", want ", -rank, " to ", rank - 1,
                " for an input of shape ", dims);
  const size_t at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return {at, CheckedProduct(dims.slice(0, at)), dims[at], CheckedProduct(dims.slice(at + 1))};
}

// y = f(a, b) over the loops of a broadcast. y may be a, if a has the shape of y.
template <class A, class B, class Y, class Function>
void ZipNumbers(const BroadcastLoops& loops, const A* a, const B* b, Y* y, const Function& f) {
  if (loops.output_size == 0) return;
  const BroadcastLoop inner = loops.inner, middle = loops.middle;
  loops.ForEachBlock([&](int64_t a_at, int64_t b_at, int64_t y_at) {
    const auto rows = [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
      for (int64_t j = first; j < last; ++j) {
        const A* row_a = a + a_at + j * middle.a_stride;
        const B* row_b = b + b_at + j * middle.b_stride;
        Y* row_y = y + y_at + j * inner.size;
        for (int64_t i = begin; i < end; ++i) {
          row_y[i] = f(row_a[i * inner.a_stride], row_b[i * inner.b_stride]);
        }
      }
    };
    if (middle.size > 1) {
      ParallelRanges(middle.size, inner.size,
                     [&](int64_t first, int64_t last) { rows(first, last, 0, inner.size); });
    } else {
      ParallelElements(inner.size, [&](int64_t begin, int64_t end) { rows(0, 1, begin, end); });
    }
  });
}

}  // namespace caffe2rt
