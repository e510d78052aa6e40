#pragma once
// The native kernels of convolutions on CUDA (conv.cu, conv_transpose.cu, padded_input.cu).

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

class CUDAContext;

// For any arguments. `bias` may be null. REQUIRES: Y is not empty.
void RunNative(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
               const float* bias, float* y);
void RunNative(CUDAContext& context, const ConvTransposeShape& shape, const float* x,
               const float* filter, const float* bias, float* y);

// The X of `from` as that of `to`, whose axes begin pad_head elements before it and have no padding
// of their own; zeros lie outside. REQUIRES: at most 3 axes.
void CopyPadded(CUDAContext& context, const WindowGeometry& from, const WindowGeometry& to,
                const float* x, float* y);

}  // namespace caffe2rt
