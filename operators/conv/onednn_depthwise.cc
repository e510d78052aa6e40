#include "operators/conv/onednn_depthwise.h"

#include "caffe2_core/base/isa.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

namespace {

// Whether the kernel is faster than oneDNN's.
bool Pays(const ConvShape& shape) {
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  const bool depthwise = shape.group > 1 && shape.in_group() == 1 && shape.out_group() == 1;
  const bool square = rows.kernel == columns.kernel && rows.stride == columns.stride;
  const bool tiles = (rows.kernel == 3 || rows.kernel == 5) && rows.stride <= 2 &&
                     rows.dilation == 1 && columns.dilation == 1;
  return CpuIsa() == Isa::kAvx512 && depthwise && square && tiles;
}

// Sets the bounds of the results. Returns false for other activations.
bool SetBounds(const ConvEpilogue& epilogue, DepthwiseConv* conv) {
  if (epilogue.sum) return false;
  switch (epilogue.activation) {
    case ConvActivation::kNone:
      return true;
    case ConvActivation::kRelu:
      conv->lowest = 0;
      return true;
    case ConvActivation::kClip:
      conv->lowest = epilogue.min;
      conv->highest = epilogue.max;
      return true;
    default:
      return false;
  }
}

}  // namespace

std::unique_ptr<OnednnDepthwise> OnednnDepthwise::New(const ConvShape& shape,
                                                      const ConvEpilogue& epilogue,
                                                      OnednnFormat format, const Tensor& X) {
  // The operators that follow could not use padded blocks.
  if (shape.window.channels % kChannelBlock != 0) format = OnednnFormat::kNhwc;
  DepthwiseConv conv{.x = PlanesIn(format, X.dims()),
                     .rows = shape.window.axis[0],
                     .columns = shape.window.axis[1]};
  if (!Pays(shape) || !SetBounds(epilogue, &conv)) return nullptr;
  return std::unique_ptr<OnednnDepthwise>(new OnednnDepthwise(conv, X));
}

OnednnDepthwise::OnednnDepthwise(const DepthwiseConv& conv, const Tensor& X)
    : conv_(conv),
      layout_(LayoutOf(conv.y())),
      form_(MakeString("depthwise_conv ", conv.rows.kernel, "x", conv.columns.kernel, "x",
                       conv.x.padded_channels())) {
  input_.PlanIn(conv.x, X);
}

void OnednnDepthwise::Prepare(const Tensor& filter) {
  const bool same = filter.storage() == storage_ && storage_ != nullptr;
  const uint64_t version =
      filter.storage() != nullptr ? filter.storage()->VerifiedVersion(filter.nbytes()) : 0;
  if (same && version == version_) return;
  const float* const plain = filter.data<float>();
  const int64_t size = PreparedDepthwiseSize(conv_);
  if (same) {
    if (own_ == nullptr) own_ = NewFilterMemory(size);
    PrepareDepthwiseFilter(conv_, plain, own_.get());
    prepared_ = own_;
  } else {
    prepared_ = filter.storage()->Derived(form_, [&] {
      const std::shared_ptr<float> memory = NewFilterMemory(size);
      PrepareDepthwiseFilter(conv_, plain, memory.get());
      return memory;
    });
  }
  storage_ = filter.storage();
  version_ = version;
}

void OnednnDepthwise::Run(const Tensor& X, const Tensor& filter, const float* bias, float* y) {
  if (conv_.y().size() == 0) return;
  Prepare(filter);
  RunDepthwise(conv_, input_.Read(X), static_cast<const float*>(prepared_.get()), bias, y);
}

}  // namespace caffe2rt
