#pragma once
// Lists of element types. The elementwise operators themselves are built in.
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/tensor.h"
#include "caffe2/utils/math.h"

namespace caffe2 {
using NumericTypes = TensorTypes<int32_t, int64_t, float, double>;
using IntTypes = TensorTypes<int32_t, int64_t>;
using BoolTypes = TensorTypes<bool>;
using IntBoolTypes = TensorTypes<int32_t, int64_t, bool>;

struct SameTypeAsInput {
  template <class T>
  using type = T;
};
template <class R>
struct FixedType {
  template <class T>
  using type = R;
};
}  // namespace caffe2
