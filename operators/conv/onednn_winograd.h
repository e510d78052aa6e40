#pragma once
// A convolution on IDEEP that the built-in Winograd kernel (winograd_conv.h) computes.
//
//   std::unique_ptr<OnednnWinograd> plan = OnednnWinograd::New(shape, epilogue, format, X);
//   if (plan == nullptr) ...                          // the shape or the epilogue is not supported
//   plan->Run(X, filter, bias, PrepareOutput(Y, dims, plan->layout()));
//
// A plan is used by one thread at a time. In the steady state Run acquires no lock and allocates
// nothing.

#include <memory>

#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/prepared_filter.h"
#include "operators/conv/winograd_conv.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

class OnednnWinograd {
 public:
  // Plans for X with Y in `format`, kNhwc or kBlocked16. Returns null unless the convolution has
  // 3 x 3 taps, stride and dilation 1, one group, channels in multiples of 16, and one of the
  // activations none, Relu and Clip. REQUIRES: the shape is NCHW with two axes.
  static std::unique_ptr<OnednnWinograd> New(const ConvShape& shape, const ConvEpilogue& epilogue,
                                             OnednnFormat format, const Tensor& X);

  // The descriptor of Y, and its layout (null: row-major).
  dnnl::memory::desc result() const { return DescOf(conv_.y()); }
  const std::shared_ptr<const OnednnLayout>& layout() const { return layout_; }
  // If epilogue.sum is set, y contains the tensor to add, in the layout of the result. `bias` may be
  // null. REQUIRES: X has the shape and layout of the plan.
  void Run(const Tensor& X, const Tensor& filter, const float* bias, float* y);

 private:
  OnednnWinograd(const WinogradConv& conv, const Tensor& X);

  const WinogradConv conv_;
  const int threads_;
  const int64_t scratch_size_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  PreparedFilter prepared_;
  ThreadScratch scratch_;
};

}  // namespace caffe2rt
