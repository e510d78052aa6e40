#pragma once
// Convolutions on IDEEP that multiply bytes (onednn_conv_plan.h), and whether this machine does so fast.

#include <memory>

#include "operators/conv/byte_depthwise_tiles.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/ideep_conv.h"

namespace caffe2rt {

// How many times as fast as floats this machine multiplies bytes; 0 if there are no convolutions of
// bytes (WhyNoInt8Convs in caffe2_core/graph/passes/conv_layouts.h). With `any_machine`, the least of all
// machines that have them.
double Int8ConvSpeed(bool any_machine = false);
// Whether it adds products of bytes without saturation (int8_filter.h).
bool AddsBytesExactly();

// Null if there is no optimized implementation, or X is of bytes with another quantization.
std::unique_ptr<IdeepConv> NewOnednnInt8(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                         const Tensor& X);

// Groups of one input channel by the built-in kernel (byte_depthwise.h). Null if it does not support them.
// REQUIRES: ByteSource::Fits.
std::unique_ptr<IdeepConv> NewByteDepthwise(const ConvProblem& problem, ByteResult result,
                                            const Tensor& X);

}  // namespace caffe2rt
