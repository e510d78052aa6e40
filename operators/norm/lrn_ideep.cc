// LRN on IDEEP, in the layout of X.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/norm/lrn.h"
#include "operators/norm/lrn_planes.h"

namespace caffe2rt {

namespace {

class LRNOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  LRNOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), window_(ReadLrnWindow(args(), StorageOrder::NCHW)) {
    CAFFE_ENFORCE(ReadStorageOrder(args()) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: tensors on IDEEP have dims N, C, H, W");
  }

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    for (int i = 0; i < OutputSize(); ++i) PrepareOutput(Output(i), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (!input_.Matches(X)) Plan(X);
    const float* const x = input_.Read(X);
    float* const y = PrepareOutput(Output(0), X.dims(), layout_);
    float* const scale = OutputSize() > 1 ? PrepareOutput(Output(1), X.dims(), layout_) : nullptr;
    NormalizeLocally(input_.planes(), window_, x, &scratch_, y, scale);
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Plan(0, X);
    input_.Forget();  // until all is planned: there may be no memory for the rest
    layout_ = LayoutOf(input_.planes());
    input_.Remember(X);
  }

  const LRNWindow window_;
  PlanesInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::vector<float> scratch_;
};

}  // namespace

void RegisterLrnIdeep() { RegisterOperator<LRNOnednnOp>(IDEEP, "LRN", __FILE__); }

}  // namespace caffe2rt
