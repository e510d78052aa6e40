#pragma once
// Checks that the inputs of a convolution fit its arguments and each other, and computes its sizes.
// The functions are thread safe, and THROW if the shapes do not match or a size overflows.

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/tensor/tensor.h"
#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_shape.h"

#pragma GCC visibility push(default)  // for libcaffe2_cuda
namespace caffe2rt {

// `x` and `filter` are the shapes of inputs 0 and 1.
ConvShape MakeConvShape(const WindowArguments& window, IntArrayRef x, IntArrayRef filter,
                        bool bias);
ConvTransposeShape MakeConvTransposeShape(const WindowArguments& window, IntArrayRef x,
                                          IntArrayRef filter, bool bias);

// The elements of input 2, the bias. THROWS unless it is a float vector with one entry for each of
// the output channels.
const float* ConvBias(const Tensor& bias, int64_t out_channels);

}  // namespace caffe2rt
#pragma GCC visibility pop
