#pragma once
// A depthwise convolution on IDEEP that the built-in kernel (depthwise_conv.h) computes.
//
//   std::unique_ptr<OnednnDepthwise> plan = OnednnDepthwise::New(shape, epilogue, format, X);
//   if (plan == nullptr) ...                          // oneDNN is used
//   plan->Run(X, filter, bias, PrepareOutput(Y, dims, plan->layout()));
//
// A plan is used by one thread at a time. In the steady state Run acquires no lock and allocates
// nothing. The prepared filter is attached to the filter's storage and shared, or belongs to the
// plan if the filter's data changes.

#include <memory>
#include <string>

#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/depthwise_conv.h"

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
  void Prepare(const Tensor& filter);

  DepthwiseConv conv_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  const std::string form_;  // names the layout of the prepared filter
  std::shared_ptr<const void> prepared_;
  std::shared_ptr<float> own_;        // the memory of `prepared_` if the filter changes
  std::shared_ptr<Storage> storage_;  // of the filter that was prepared, at `version_`
  uint64_t version_ = 0;
};

}  // namespace caffe2rt
