#pragma once
// The kernels of Accuracy on CUDA (accuracy.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;
class Tensor;

// right[i]: whether fewer than top_k classes stand before the label of row i.
void MarkRightRows(CUDAContext& context, int64_t rows, int64_t classes, int64_t top_k,
                   const float* predictions, const int32_t* labels, bool* right);

// *share = the share of the n values that are true; NaN for n = 0. `scratch` is memory of the
// device that grows once.
void WriteShareOfTrue(CUDAContext& context, int64_t n, const bool* right, float* share,
                      Tensor* scratch);

}  // namespace caffe2rt
