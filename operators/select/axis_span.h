#pragma once
// A dimension of a tensor as three numbers: X[outer][size][inner].

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

struct AxisSpan {
  int axis = 0;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

// -1 is the last dimension; other negative axes are refused, as Caffe2 does in this family. THROWS
// when out of range.
inline AxisSpan SpanOfAxis(IntArrayRef dims, int axis) {
  const int rank = static_cast<int>(dims.size());
  const int index = axis == -1 ? rank - 1 : axis;
  CAFFE_ENFORCE(index >= 0 && index < rank, "argument axis is ", axis,
                ", want -1 or 0 and more, and below the rank of input 0 of shape ", dims);
  const size_t at = static_cast<size_t>(index);
  return {index, CheckedProduct(dims.slice(0, at)), dims[at], CheckedProduct(dims.slice(at + 1))};
}

}  // namespace caffe2rt
