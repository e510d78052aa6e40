#pragma once
// The softmax of rows on the CPU.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"

namespace caffe2 {
namespace softmax_utils {

// One row of n elements: its softmax, or the logarithm of that, its greatest element, and the sum
// of the exponentials of its elements minus that. X and Y may be the same.
template <class T>
void SoftmaxRow(int n, bool logarithmic, const T* X, T* Y, T* max, T* sum) {
  if (n == 0) return;
  const T greatest = *std::max_element(X, X + n);
  T total = 0;
  for (int i = 0; i < n; ++i) total += std::exp(X[i] - greatest);
  for (int i = 0; i < n; ++i) {
    Y[i] = logarithmic ? X[i] - greatest - std::log(total) : std::exp(X[i] - greatest) / total;
  }
  *max = greatest;
  *sum = total;
}

// N rows of D elements. `scratch` has N elements.
template <class T>
void SoftmaxCPU(int N, int D, bool logarithmic, const T* X, T* Y, T* scratch,
                CPUContext* /*context*/) {
  T max = 0;
  for (int i = 0; i < N; ++i) {
    SoftmaxRow(D, logarithmic, X + int64_t{i} * D, Y + int64_t{i} * D, &max, &scratch[i]);
  }
}

}  // namespace softmax_utils
}  // namespace caffe2
