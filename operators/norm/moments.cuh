#pragma once
// Mean and biased variance of the values of a row, in double.

#include "contexts/cuda/cuda_kernel.cuh"

namespace caffe2rt {

struct RowMoments {
  double mean, variance;
};

// Returns the moments of f(0), ..., f(n - 1), or zeros if n is 0. Calls f twice for each index.
template <class F>
CAFFE2RT_HOST_DEVICE RowMoments MomentsOfRow(const Row& row, int64_t n, const F& f) {
  const double count = n > 0 ? static_cast<double>(n) : 1;
  const double mean = row.Reduce(n, 0.0, Plus(), f) / count;
  const double squares = row.Reduce(n, 0.0, Plus(), [=](int64_t i) {
    const double d = f(i) - mean;
    return d * d;
  });
  return {mean, squares / count};
}

}  // namespace caffe2rt
