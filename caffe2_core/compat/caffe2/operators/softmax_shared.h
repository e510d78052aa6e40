#pragma once
// The softmax of rows on the CPU, with the arguments of earlier Caffe2 versions.
#include <algorithm>
#include <cmath>

#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/operators/softmax_utils.h"
#include "caffe2/utils/math.h"

namespace caffe2 {

// Writes the softmax, or its logarithm, of N rows of D elements to Y. Also writes the greatest
// element of each row to `rowmax`, and to `scale` the sum of the exponentials of its elements minus
// that. `sum_multiplier` is not used.
inline void SoftmaxCPU(CPUContext& /*context*/, const int N, const int D, const float* Xdata,
                       float* Ydata, float* scale, const float* /*sum_multiplier*/,
                       bool logarithmic, float* rowmax) {
  for (int i = 0; i < N; ++i) {
    softmax_utils::SoftmaxRow(D, logarithmic, Xdata + int64_t{i} * D, Ydata + int64_t{i} * D,
                              &rowmax[i], &scale[i]);
  }
}

}  // namespace caffe2
