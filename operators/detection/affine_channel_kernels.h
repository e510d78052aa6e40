#pragma once
// Kernels of AffineChannel, on the CPU (affine_channel.cc) and on CUDA (affine_channel.cu).

#include "operators/common/channels.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y = x * scale + bias. `bias` may be null, which means 0; y may be x.
void ScaleChannels(CPUContext& context, const Channels& channels, const float* x,
                   const float* scale, const float* bias, float* y);
void ScaleChannels(CUDAContext& context, const Channels& channels, const float* x,
                   const float* scale, const float* bias, float* y);
// For each channel, dscale = the sum of dy * x, dbias = the sum of dy.
void SumChannels(CPUContext& context, const Channels& channels, const float* dy, const float* x,
                 float* dscale, float* dbias);
void SumChannels(CUDAContext& context, const Channels& channels, const float* dy, const float* x,
                 float* dscale, float* dbias);

}  // namespace caffe2rt
