// Split on IDEEP. An image in nhwc or nChw16c is split along its channels in its layout. An output
// whose memory is already its place in the input is not copied. Everything else is split in
// row-major order.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/shape/channel_copies.h"
#include "operators/shape/split.h"

namespace caffe2rt {

namespace {

class SplitOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  SplitOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        join_(ReadJoinAxis(args())),
        split_(ReadArgument(kSplitSizes)),
        uneven_(ReadArgument(kSplitUneven)) {}

  void PlanAhead(const AheadInputs& inputs) override {
    CAFFE_ENFORCE(InputSize() < 2 || inputs.is_constant(1),
                  "input 1 (split) is known when the net runs, want a constant");
    const Tensor& X = Input(0);
    const int axis = PlanPieces(X);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      SplitPieceDims(X.sizes(), axis, join_.add_axis, sizes_[i], &dims_);
      Tensor* const Y = Output(static_cast<int>(i));
      if (planes_.has_value()) {
        PrepareOutput(Y, dims_, layouts_[i]);
      } else {
        Y->Resize(dims_);
        Y->raw_mutable_data(X.dtype());
      }
    }
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int axis = PlanPieces(X);
    if (planes_.has_value()) {
      SplitPlanes(X);
    } else {
      SplitRowMajor(X, axis);
    }
    return true;
  }

 private:
  static size_t BytesOf(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

  ArrayRef<int> Wanted() {
    if (InputSize() < 2) return split_;
    CAFFE_ENFORCE(split_.empty(), "argument split and input 1 are both given: remove one");
    return SizesOfInput(split_input_.Read(*this, 1), OutputSize(), &converted_);
  }

  // Returns the axis.
  int PlanPieces(const Tensor& X) {
    const int axis = canonical_axis_index_(join_.axis, X.dim());
    SplitSizes(X.dim(axis), OutputSize(), join_.add_axis, Wanted(), &sizes_, uneven_);
    if (!input_.Matches(X) || sizes_ != planned_sizes_) Plan(X, axis);
    return axis;
  }

  void Plan(const Tensor& X, int axis) {
    input_.Forget();
    planes_ = std::nullopt;
    if (axis == 1 && !join_.add_axis && X.opaque_layout() != nullptr) planes_ = PlanesOf(X);
    planned_sizes_ = sizes_;
    layouts_.clear();
    for (size_t i = 0; planes_.has_value() && i < sizes_.size(); ++i) {
      layouts_.push_back(LayoutOf(Part(i)));
    }
    input_.Remember(X);
  }

  ChannelPlanes Part(size_t i) const {
    ChannelPlanes part = *planes_;
    part.channels = sizes_[i];
    return part;
  }

  void SplitPlanes(const Tensor& X) {
    const float* const x = OnednnData(X);
    int64_t first = 0;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const ChannelPlanes part = Part(i);
      SplitPieceDims(X.sizes(), 1, false, part.channels, &dims_);
      Tensor* const Y = Output(static_cast<int>(i));
      float* y = PrepareOutput(Y, dims_, layouts_[i]);
      const int64_t offset = OffsetOfDensePart(*planes_, {first, part.channels});
      const float* const place = offset >= 0 ? x + offset : nullptr;
      if (IsMisplaced(y, BytesOf(part.size()), place, x, BytesOf(planes_->size()))) {
        Y->FreeMemory();  // planned for another layout
        y = PrepareOutput(Y, dims_, layouts_[i]);
      }
      CopyToPart(*planes_, first, part, x, y);
      first += part.channels;
    }
  }

  void SplitRowMajor(const Tensor& X, int axis) {
    const void* const x =
        X.opaque_layout() == nullptr ? X.raw_data() : plain_.Read(*this, 0).raw_data();
    PlacePieces(*this, X, x, axis, join_.add_axis, sizes_, &dims_, &pieces_);
    if (X.numel() > 0) SplitRows(cpu_, X.dtype(), X.size_to_dim(axis), x, pieces_);
  }

  const JoinAxis join_;
  const std::vector<int> split_;
  const bool uneven_;
  std::vector<int> converted_;
  std::vector<int64_t> sizes_, planned_sizes_, dims_;
  OnednnInput input_;
  std::optional<ChannelPlanes> planes_;  // of X, if it is split in its layout
  std::vector<std::shared_ptr<const OnednnLayout>> layouts_;
  std::vector<TargetPiece> pieces_;
  HostInput split_input_, plain_;
  CPUContext cpu_;
};

}  // namespace

void RegisterSplitIdeep() {
  RegisterOperator<SplitOnednnOp>(IDEEP, "Split", __FILE__);
  RegisterOperator<SplitOnednnOp>(IDEEP, "DepthSplit", __FILE__);
}

}  // namespace caffe2rt
