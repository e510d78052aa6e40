#pragma once
// The native CUDA kernels for convolutions (conv.cu, conv_transpose.cu, padded_input.cu).

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

class CUDAContext;

// Supports all arguments. `bias` may be null. REQUIRES: Y is not empty.
void RunNative(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
               const float* bias, float* y);
void RunNative(CUDAContext& context, const ConvTransposeShape& shape, const float* x,
               const float* filter, const float* bias, float* y);

// Copies X of geometry `from` to Y, the X of geometry `to`, with the padding as elements: each axis
// of `to` begins pad_head elements before that of `from`, and elements outside `from` are zero.
// `to` has no padding. REQUIRES: at most 3 axes.
void CopyPadded(CUDAContext& context, const WindowGeometry& from, const WindowGeometry& to,
                const float* x, float* y);

}  // namespace caffe2rt
