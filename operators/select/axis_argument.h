#pragma once
// The axis argument of ArgMax, ArgMin and TopK.

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/argument_spec.h"
#include "operators/select/axis_span.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kSelectAxis{"axis", -1,
                                               "dimension to search; -1 is the last one"};

// -1 is the last dimension; other negative axes are rejected, as in Caffe2 for these operators.
// THROWS if the axis is out of range.
inline AxisSpan SpanOfAxis(IntArrayRef dims, int axis) {
  const int rank = static_cast<int>(dims.size());
  const int index = axis == -1 ? rank - 1 : axis;
  CAFFE_ENFORCE(index >= 0 && index < rank, "argument axis is ", axis,
                ", want -1, or at least 0 and below the rank of input 0 of shape ", dims);
  const size_t at = static_cast<size_t>(index);
  return {index, CheckedProduct(dims.slice(0, at)), dims[at], CheckedProduct(dims.slice(at + 1))};
}

}  // namespace caffe2rt
