#pragma once
// Pools of images on IDEEP. Y has the layout of X, but is row-major if it has one pixel. Row-major
// images are pooled in nhwc. With output_precision int8, the maximum of bytes in nhwc is kept in bytes.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/onednn_argument.h"
#include "operators/common/onednn_planes.h"
#include "operators/pool/byte_pool.h"
#include "operators/pool/planes_pool.h"
#include "operators/pool/pool.h"

namespace caffe2rt {

// kPool is MaxPoolPlanes or MeanPoolPlanes.
template <auto kPool>
class PoolOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  PoolOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        window_(ParseWindowArguments(args(), WindowUse::kPool)),
        include_pad_(ReadArgument(kPoolIncludePad)),
        keeps_bytes_(kPool == MaxPoolPlanes && ReadArgument(kOutputPrecision) == "int8") {
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
    if (in_bytes_) {
      void* const bytes = PrepareOutputMemory(Output(0), dims_, layout_);
      MaxPoolBytes(plan_, X.dim(2), X.dim(3), static_cast<const uint8_t*>(OnednnMemory(X)),
                   static_cast<uint8_t*>(bytes));
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
    in_bytes_ = keeps_bytes_ && IsBytesInNhwc(X);
    if (in_bytes_) return PlanBytes(X);
    input_.Plan(0, X);
    const ChannelPlanes out = PooledPlanes(plan_, input_.planes());
    dims_ = DimsOf(out);
    layout_ = LayoutOf(out);
    if (layout_ != nullptr && out.pixels() == 1) {  // only the padding differs from row-major order
      padded_.resize(static_cast<size_t>(out.size()));
      layout_ = nullptr;
    }
  }

  void PlanBytes(const Tensor& X) {
    dims_ = {X.dim(0), X.dim(1), plan_.whole ? 1 : plan_.axis[1].out,
             plan_.whole ? 1 : plan_.axis[2].out};
    layout_ =
        OnednnLayout::New(DescIn(OnednnFormat::kNhwc, dims_, dnnl::memory::data_type::u8),
                          static_cast<const OnednnLayout&>(*X.opaque_layout()).quantization());
    input_.Remember(X);
  }

  const WindowArguments window_;
  const bool include_pad_, keeps_bytes_;
  bool in_bytes_ = false;
  PlanesInput input_;
  PoolPlan plan_;
  std::vector<int64_t> dims_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> padded_;  // Y with its padding, if that is removed
};

}  // namespace caffe2rt
