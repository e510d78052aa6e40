#pragma once
// Convolutions on IDEEP that multiply bytes (onednn_conv_plan.h), and whether this machine does so fast.

#include <memory>

#include "operators/conv/conv_epilogue.h"
#include "operators/conv/ideep_conv.h"

namespace caffe2rt {

// How many times as fast as floats this machine multiplies bytes; 0 if there are no convolutions of
// bytes (WhyNoInt8Convs in caffe2_core/graph/passes/conv_layouts.h).
double Int8ConvSpeed();
// Whether it adds products of bytes without saturation (int8_filter.h).
bool AddsBytesExactly();

// Whether X with this quantization can be convolved: with a zero point, only if nothing is padded.
bool Int8Fits(const ConvShape& shape, const OnednnQuantization& x);

// Null if oneDNN has no optimized implementation, or X is of bytes with another quantization.
// REQUIRES: Int8Fits.
std::unique_ptr<IdeepConv> NewOnednnInt8(const ConvProblem& problem, const ConvEpilogue& epilogue,
                                         const Tensor& X);

}  // namespace caffe2rt
