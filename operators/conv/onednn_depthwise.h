#pragma once
// A depthwise convolution on IDEEP that the built-in kernel (depthwise_conv.h) computes.
//
//   std::unique_ptr<OnednnDepthwise> plan = OnednnDepthwise::New(shape, epilogue, format, X);
//   if (plan == nullptr) ...                          // oneDNN is used
//   plan->Run(X, filter, bias, PrepareOutput(Y, dims, plan->layout()));
//
// A plan is used by one thread at a time. In the steady state Run acquires no lock and allocates
// nothing.

#include <memory>

#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/depthwise_conv.h"
#include "operators/conv/prepared_filter.h"

namespace caffe2rt {

class OnednnDepthwise {
 public:
  // Plans for X with Y in `format`, kNhwc or kBlocked16; kNhwc if the channels are not a multiple of
  // 16. Returns null if the convolution is not
  // depthwise, if it adds a tensor, or if oneDNN is faster: the kernel is for AVX-512, kernels of
  // 3 x 3 or 5 x 5 taps and the activations none, Relu and Clip. REQUIRES: the shape is NCHW with two axes.
  static std::unique_ptr<OnednnDepthwise> New(const ConvShape& shape, const ConvEpilogue& epilogue,
                                              OnednnFormat format, const Tensor& X);

  // The layout of Y; null: row-major.
  const std::shared_ptr<const OnednnLayout>& layout() const { return layout_; }
  // `bias` may be null. REQUIRES: X has the shape and layout of the plan.
  void Run(const Tensor& X, const Tensor& filter, const float* bias, float* y);

 private:
  OnednnDepthwise(const DepthwiseConv& conv, const Tensor& X);

  DepthwiseConv conv_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  PreparedFilter prepared_;
};

}  // namespace caffe2rt
