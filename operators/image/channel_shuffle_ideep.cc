// ChannelShuffle on IDEEP, in the layout of X. Row-major images are shuffled in nhwc.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/image/channel_order.h"
#include "operators/image/channel_shuffle.h"

namespace caffe2rt {

namespace {

class ChannelShuffleOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  ChannelShuffleOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), group_(ReadArgument(kShuffleGroup)) {
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
  }

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    PrepareOutput(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (!input_.Matches(X)) Plan(X);
    const float* const x = input_.Read(X);
    order_.Run(x, PrepareOutput(Output(0), X.dims(), layout_));
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const int64_t group = group_, size = X.dim(1) / group;
    CAFFE_ENFORCE_EQ(X.dim(1) % group, 0, "remainder of the channels of input 0 (X) of shape ",
                     X.sizes(), " divided by argument group ", group, ", want 0");
    input_.Plan(0, X);
    input_.Forget();  // until all is planned: there may be no memory for the rest
    layout_ = LayoutOf(input_.planes());
    order_.Plan(input_.planes(), [=](int64_t c) { return c % group * size + c / group; });
    input_.Remember(X);
  }

  const int group_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  ChannelOrder order_;
};

}  // namespace

void RegisterChannelShuffleIdeep() {
  RegisterOperator<ChannelShuffleOnednnOp>(IDEEP, "ChannelShuffle", __FILE__);
}

}  // namespace caffe2rt
