#pragma once
// Pools of images on IDEEP. Y has the layout of X, but is row-major if it has one pixel. Row-major
// images are pooled in nhwc. With output_precision int8, bytes in nhwc are pooled as bytes, and with bf16
// images of bf16 as such (reduced_pool.h). Means in bytes may have another scale than X.

#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/pool/planes_pool.h"
#include "operators/pool/pool.h"
#include "operators/pool/reduced_pool.h"

namespace caffe2rt {

// kPool is MaxPoolPlanes or MeanPoolPlanes.
template <auto kPool>
class PoolOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  PoolOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        window_(ParseWindowArguments(args(), WindowUse::kPool)),
        include_pad_(ReadArgument(kPoolIncludePad)),
        kept_(ElementOf(ReadArgument(kOutputPrecision))) {
    if constexpr (kPool == MeanPoolPlanes) {
      const float min = ReadArgument(kPooledMin), max = ReadArgument(kPooledMax);
      if (min < max) range_ = QuantizationOfRange(min, max);
    }
    CAFFE_ENFORCE(window_.order == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
  }

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    PrepareOutputMemory(Output(0), dims_, layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (!input_.Matches(X)) Plan(X);
    if (reduced_) {
      PoolReduced(X, PrepareOutputMemory(Output(0), dims_, layout_));
      return true;
    }
    const float* const x = input_.Read(X);
    float* const y = PrepareOutput(Output(0), dims_, layout_);
    if (padded_.empty()) {
      kPool(plan_, input_.planes(), x, y);
    } else {
      kPool(plan_, input_.planes(), x, padded_.data());
      const int64_t channels = dims_[1], row = input_.planes().padded_channels();
      for (int64_t n = 0; n < dims_[0]; ++n) {
        std::copy_n(padded_.data() + n * row, channels, y + n * channels);
      }
    }
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();  // if a check below throws, the next run plans again
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const WindowGeometry geometry = MakeWindowGeometry(window_, X.sizes());
    plan_ = MakePoolPlan(geometry, window_.global_pooling, include_pad_);
    padded_.clear();
    reduced_.reset();
    if (kept_ != dnnl::memory::data_type::f32) reduced_ = ReducedPlanesOf(X, kept_);
    if (reduced_) return PlanReduced(X);
    input_.Plan(0, X);
    input_.Forget();  // until all is planned: there may be no memory for the rest
    const ChannelPlanes out = PooledPlanes(plan_, input_.planes());
    dims_ = DimsOf(out);
    layout_ = LayoutOf(out);
    if (layout_ != nullptr && out.pixels() == 1) {  // only the padding differs from row-major order
      padded_.resize(static_cast<size_t>(out.size()));
      layout_ = nullptr;
    }
    input_.Remember(X);
  }

  static dnnl::memory::data_type ElementOf(const std::string& precision) {
    using enum dnnl::memory::data_type;
    return precision == "int8" ? u8 : precision == "bf16" ? bf16 : f32;
  }

  void PlanReduced(const Tensor& X) {
    const ChannelPlanes out = PooledPlanes(plan_, *reduced_);
    dims_ = DimsOf(out);
    layout_ = OnednnLayout::New(
        DescIn(out.blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc, dims_, kept_),
        ResultOf(X));
    if (reduced_->blocked) {  // each block of channels is an image
      plan_.batch = reduced_->planes();
      plan_.channels = kChannelBlock;
    }
    input_.Remember(X);
  }

  static const OnednnQuantization& QuantizationOf(const Tensor& X) {
    return static_cast<const OnednnLayout&>(*X.opaque_layout()).quantization();
  }

  OnednnQuantization ResultOf(const Tensor& X) const {
    return range_ && kept_ == dnnl::memory::data_type::u8 ? *range_ : QuantizationOf(X);
  }

  void PoolReduced(const Tensor& X, void* y) {
    const int64_t height = X.dim(2), width = X.dim(3);
    constexpr bool kMax = kPool == MaxPoolPlanes;
    if (kept_ == dnnl::memory::data_type::u8) {
      const auto* const x = static_cast<const uint8_t*>(OnednnMemory(X));
      auto* const bytes = static_cast<uint8_t*>(y);
      if constexpr (kMax) {
        MaxPoolBytes(plan_, height, width, x, bytes);
      } else {
        MeanPoolBytes(plan_, height, width, QuantizationOf(X), ResultOf(X), x, bytes);
      }
    } else {
      const auto* const x = static_cast<const uint16_t*>(OnednnMemory(X));
      (kMax ? MaxPoolBfloat16s : MeanPoolBfloat16s)(plan_, height, width, x,
                                                    static_cast<uint16_t*>(y));
    }
  }

  const WindowArguments window_;
  const bool include_pad_;
  const dnnl::memory::data_type kept_;       // f32: nothing is kept
  std::optional<OnednnQuantization> range_;  // of means in bytes; empty: as X
  std::optional<ChannelPlanes> reduced_;     // of X if it is kept
  PlanesInput input_;
  PoolPlan plan_;
  std::vector<int64_t> dims_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> padded_;  // Y with its padding, if that is removed
};

}  // namespace caffe2rt
