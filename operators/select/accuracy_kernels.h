#pragma once
// The kernels of Accuracy on CUDA (accuracy.h).

#include <cstdint>

namespace caffe2rt {

class CUDAContext;
class Tensor;

// Sets right[i]: whether fewer than top_k classes rank before the label of row i.
void MarkRightRows(CUDAContext& context, int64_t rows, int64_t classes, int64_t top_k,
                   const float* predictions, const int32_t* labels, bool* right);

// Sets *share to the fraction of the n values that are true; NaN for n = 0. `scratch` is device
// memory, allocated in the first call.
void WriteShareOfTrue(CUDAContext& context, int64_t n, const bool* right, float* share,
                      Tensor* scratch);

}  // namespace caffe2rt
