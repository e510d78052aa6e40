#pragma once
// Convolutions on IDEEP by built-in kernels. conv_choice.h states when they are used.

#include <memory>
#include <string>

#include "caffe2_core/tensor/prepared_weight.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"
#include "operators/conv/ideep_conv.h"

namespace caffe2rt {

// Planned for one shape and layout of X. Used by one thread at a time. In the steady state Run
// acquires no lock and allocates nothing.
class BuiltInConv : public IdeepConv {
 public:
  dnnl::memory::desc result() const override { return DescOf(y_); }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return layout_; }
  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) override;
  void PrepareFilter(const Tensor& filter) override;

 protected:
  // Reads X in the layout of `x`. `form` names the layout of the prepared filter, which has
  // `filter_floats` elements. `restorer` makes the filter from it (tensor/prepared_forms.h).
  BuiltInConv(const ChannelPlanes& x, const ChannelPlanes& y, const Tensor& X, std::string form,
              int64_t filter_floats, FormRestorer restorer = {});

 private:
  virtual void Prepare(const float* filter, float* prepared) const = 0;
  virtual void Compute(const float* x, const float* prepared, const float* bias, float* y) = 0;

  const ChannelPlanes y_;
  PlanesInput input_;
  const std::shared_ptr<const OnednnLayout> layout_;
  PreparedWeight filter_;
};

// The kernels, one source file each. They return null for what they do not support.

// Depthwise with 3 x 3 or 5 x 5 taps, stride 1 or 2, no added tensor, and one of the activations
// none, Relu and Clip (depthwise_conv.h).
std::unique_ptr<BuiltInConv> NewOnednnDepthwise(const ConvShape& shape,
                                                const ConvEpilogue& epilogue, const Tensor& X,
                                                OnednnFormat format);
// 3 x 3 taps, stride and dilation 1, one group, channels in multiples of 16, and one of the
// activations none, Relu and Clip (winograd_conv.h).
std::unique_ptr<BuiltInConv> NewOnednnWinograd(const ConvShape& shape, const ConvEpilogue& epilogue,
                                               const Tensor& X, OnednnFormat format);
// One tap, stride 1, no padding, in NHWC: multiplications by packed matrices, one for each group
// (packed_gemm.h).
std::unique_ptr<BuiltInConv> NewOnednnPointwise(const ConvShape& shape,
                                                const ConvEpilogue& epilogue, const Tensor& X);

}  // namespace caffe2rt
