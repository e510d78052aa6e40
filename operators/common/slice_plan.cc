#include "operators/common/slice_plan.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

// Converts a bound to a position between 0 and size; the result is negative if it lies before the
// beginning.
int64_t Place(int64_t bound, int64_t size) {
  return bound < 0 ? size + 1 + bound : std::min(bound, size);
}

}  // namespace

void CheckSliceBounds(IntArrayRef input, size_t starts, size_t ends) {
  CAFFE_ENFORCE_EQ(starts, ends, "elements of starts, want as many as of ends");
  CAFFE_ENFORCE_LE(starts, input.size(), "elements of starts, want at most the rank of input 0");
}

void PlanSlice(IntArrayRef input, IntArrayRef starts, IntArrayRef ends, SlicePlan* plan) {
  CheckSliceBounds(input, starts.size(), ends.size());
  plan->dims.assign(input.begin(), input.end());
  plan->axis = -1;
  plan->start = 0;
  int cut = 0;
  bool empty = false;
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t size = input[i];
    empty = empty || size == 0;
    if (i >= starts.size() || size == 0) continue;
    const int64_t start = Place(starts[i], size), end = Place(ends[i], size);
    CAFFE_ENFORCE(0 <= start && start <= end, "dim ", i, " of input 0 of shape ", input,
                  " cannot be sliced from ", starts[i], " to ", ends[i]);
    plan->dims[i] = end - start;
    if (start == 0 && end == size) continue;
    ++cut;
    plan->axis = static_cast<int>(i);
    plan->start = start;
  }
  CAFFE_ENFORCE(cut <= 1 || empty, "starts ", starts, " and ends ", ends, " slice ", cut,
                " dimensions, want one: use several Slice operators");
}

SliceRows RowsOfSlice(IntArrayRef input, const SlicePlan& plan) {
  const int64_t total = CheckedProduct(input);
  if (plan.axis < 0) return {.outer = 1, .all = total, .taken = total, .start = 0};
  const size_t axis = static_cast<size_t>(plan.axis);
  const int64_t inner = CheckedProduct(input.slice(axis + 1));
  return {.outer = CheckedProduct(input.slice(0, axis)),
          .all = input[axis] * inner,
          .taken = plan.dims[axis] * inner,
          .start = plan.start * inner};
}

}  // namespace caffe2rt
