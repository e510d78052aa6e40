#pragma once
// Convolutions on IDEEP that built-in kernels compute where they are faster than oneDNN.
//
//   std::unique_ptr<BuiltInConv> conv = NewBuiltInConv(shape, epilogue, X, options);
//   if (conv == nullptr) ...                          // oneDNN is used
//   conv->Run(X, filter, bias, PrepareOutput(Y, dims, conv->layout()));
//
// The choice is a pure function of shape, epilogue, layouts, options and instruction set.

#include <memory>
#include <string>

#include "caffe2_core/tensor/prepared_weight.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/conv_epilogue.h"
#include "operators/conv/conv_shape.h"

namespace caffe2rt {

// Planned for one shape and layout of X. Used by one thread at a time. In the steady state Run
// acquires no lock and allocates nothing.
class BuiltInConv {
 public:
  virtual ~BuiltInConv() = default;
  BuiltInConv(const BuiltInConv&) = delete;
  BuiltInConv& operator=(const BuiltInConv&) = delete;

  // The descriptor of Y, and its layout (null: row-major).
  dnnl::memory::desc result() const { return DescOf(y_); }
  const std::shared_ptr<const OnednnLayout>& layout() const { return layout_; }
  // If the epilogue adds a tensor, y contains it, in the layout of the result. `bias` may be null.
  // REQUIRES: X has the shape and layout of the plan. THROWS if X or the filter has no float data.
  void Run(const Tensor& X, const Tensor& filter, const float* bias, float* y);

 protected:
  // Reads X in the layout of `x`. `form` names the layout of the prepared filter, which has
  // `filter_floats` elements.
  BuiltInConv(const ChannelPlanes& x, const ChannelPlanes& y, const Tensor& X, std::string form,
              int64_t filter_floats);

 private:
  virtual void Prepare(const float* filter, float* prepared) const = 0;
  virtual void Compute(const float* x, const float* prepared, const float* bias, float* y) = 0;

  const ChannelPlanes y_;
  PlanesInput input_;
  const std::shared_ptr<const OnednnLayout> layout_;
  PreparedWeight filter_;
};

struct BuiltInConvOptions {
  // The layout that Y should have, kNhwc or kBlocked16. Y gets another one if the kernel or the
  // number of channels does not suit it.
  OnednnFormat format = OnednnFormat::kNhwc;
  // Do not use Winograd.
  bool direct_only = false;
  // The maximum number of bytes of the prepared filter for which Winograd is chosen, which stores a
  // 3x3 filter four times.
  int64_t winograd_filter_bytes = INT64_MAX;
};

// Returns null if oneDNN is faster or no kernel supports the convolution. REQUIRES: the shape is
// NCHW with two axes.
std::unique_ptr<BuiltInConv> NewBuiltInConv(const ConvShape& shape, const ConvEpilogue& epilogue,
                                            const Tensor& X, const BuiltInConvOptions& options);

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
