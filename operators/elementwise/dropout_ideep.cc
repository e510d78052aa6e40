// Dropout on IDEEP, in test mode only: Y = X, in the layout of X.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/dropout.h"

namespace caffe2rt {

namespace {

class DropoutOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  DropoutOnednnOp(const OperatorDef& def, Workspace* ws) : Operator<IDEEPContext>(def, ws) {
    (void)ReadArgument(kDropoutRatio);  // checks it
    CAFFE_ENFORCE(ReadArgument(kDropoutIsTest) != 0,
                  "argument is_test is 0, want 1: IDEEP is for inference");
  }

  void PlanAhead(const AheadInputs&) override {
    if (Output(0) == &Input(0)) return;
    Plan(Input(0));
    PrepareOutput(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0);
    const float* const x = OnednnData(X);
    if (Y == &X) return true;
    if (!input_.Matches(X)) Plan(X);
    float* const y = PrepareOutput(Y, X.dims(), layout_);
    ForEachRange(FloatsOf(X), 1, 1,
                 [&](int64_t first, int64_t last) { std::copy(x + first, x + last, y + first); });
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();
    layout_ = SharedLayout(X);
    input_.Remember(X);
  }

  OnednnInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
};

}  // namespace

void RegisterDropoutIdeep() { RegisterOperator<DropoutOnednnOp>(IDEEP, "Dropout", __FILE__); }

}  // namespace caffe2rt
