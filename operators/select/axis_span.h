#pragma once
// A dimension of a tensor as three numbers: X[outer][size][inner].

#include <cstdint>

namespace caffe2rt {

struct AxisSpan {
  int axis = 0;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

}  // namespace caffe2rt
