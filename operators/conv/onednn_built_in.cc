#include "operators/conv/onednn_built_in.h"

#include <utility>

#include "caffe2_core/base/isa.h"
#include "operators/conv/onednn_conv_plan.h"

namespace caffe2rt {

namespace {

// With AVX2, oneDNN has no optimized implementation for groups, nor for channels that do not fill
// its vectors of 8.
bool PointwisePays(const ConvShape& shape) {
  const bool fills = shape.in_group() % 8 == 0 && shape.out_group() % 8 == 0;
  return CpuIsa() == Isa::kAvx2 && (shape.group > 1 || !fills);
}

}  // namespace

BuiltInConv::BuiltInConv(const ChannelPlanes& x, const ChannelPlanes& y, const Tensor& X,
                         std::string form, int64_t filter_floats)
    : y_(y), layout_(LayoutOf(y)) {
  input_.PlanIn(x, X);
  filter_.Add(std::move(form), static_cast<size_t>(filter_floats) * sizeof(float));
}

void BuiltInConv::Run(const Tensor& X, const Tensor& filter, const float* bias, float* y) {
  if (y_.size() == 0) return;
  const float* const plain = filter.data<float>();
  filter_.Update(filter, [&](size_t, void* to) { Prepare(plain, static_cast<float*>(to)); });
  Compute(input_.Read(X), filter_.data<float>(0), bias, y);
}

std::unique_ptr<BuiltInConv> NewBuiltInConv(const ConvShape& shape, const ConvEpilogue& epilogue,
                                            const Tensor& X, const BuiltInConvOptions& options) {
  std::unique_ptr<BuiltInConv> conv;
  if (CpuIsa() != Isa::kPlain) conv = NewOnednnDepthwise(shape, epilogue, X, options.format);
  if (conv == nullptr && PointwisePays(shape)) conv = NewOnednnPointwise(shape, epilogue, X);
  if (conv == nullptr && !options.direct_only &&
      WinogradPays(shape, options.format, options.winograd_filter_bytes)) {
    conv = NewOnednnWinograd(shape, epilogue, X, options.format);
  }
  return conv;
}

}  // namespace caffe2rt
