// PRelu on IDEEP, in the layout of X. W is on the CPU.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/channel_functions.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/prelu.h"

namespace caffe2rt {

namespace {

class PReluOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  PReluOnednnOp(const OperatorDef& def, Workspace* ws) : Operator<IDEEPContext>(def, ws) {
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
  }

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    PrepareOutput(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = slopes_input_.Read(*this, 1);
    const PReluSize size = SizeOfPRelu(X, W, 0, false);
    const float* slopes = W.data<float>();
    if (!input_.Matches(X)) Plan(X);
    const ChannelPlanes& planes = input_.planes();
    if (size.channels == 1) {
      slopes_.assign(static_cast<size_t>(planes.channels), *slopes);
      slopes = slopes_.data();
    }
    PadChannels(planes, slopes, 1, &padded_);
    const float* const x = input_.Read(X);
    Tensor* Y = Output(0);
    const InplaceInput kept(X, Y);
    float* const y = PrepareOutput(Y, X.dims(), layout_);
    MapChannels(planes, SlopeBelowZero{}, padded_.data(), padded_.data(), 0, x, y);
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Plan(0, X);
    input_.Forget();  // until all is planned: there may be no memory for the rest
    layout_ = LayoutOf(input_.planes());
    input_.Remember(X);
  }

  HostInput slopes_input_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> slopes_, padded_;
};

}  // namespace

void RegisterPreluIdeep() { RegisterOperator<PReluOnednnOp>(IDEEP, "PRelu", __FILE__); }

}  // namespace caffe2rt
