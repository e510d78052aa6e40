// Softmax on IDEEP. A row is an image or larger, so the order of its elements does not matter and Y
// has the layout of X. Padding, and rows that are smaller than an image, are converted to row-major
// order first.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/norm/softmax.h"

namespace caffe2rt {

namespace {

class SoftmaxOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  SoftmaxOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), axis_(ReadArgument(kSoftmaxAxis)) {}

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    PrepareOutput(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int axis = X.canonical_axis_index(axis_);
    const float* x = OnednnData(X);
    if (!input_.Matches(X)) Plan(X);
    if (layout_ == nullptr) x = plain_.Read(X);
    const int64_t rows = X.size_to_dim(axis), columns = X.size_from_dim(axis);
    Tensor* Y = Output(0);
    const InplaceInput kept(X, Y);
    float* const y = PrepareOutput(Y, X.dims(), layout_);
    ForEachRange(rows, columns, kCost, [&](int64_t first, int64_t last) {
      SoftmaxRows(cpu_, last - first, columns, x + first * columns, y + first * columns);
    });
    return true;
  }

 private:
  static constexpr int64_t kCost = 8;

  void Plan(const Tensor& X) {
    input_.Forget();
    layout_ = SharedLayout(X);
    if (X.canonical_axis_index(axis_) > 1 || FloatsOf(X) != X.numel() ||
        FormatOf(X) == OnednnFormat::kOther) {
      layout_ = nullptr;
    }
    input_.Remember(X);
  }

  const int axis_;
  OnednnInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  RowMajorInput plain_;
  CPUContext cpu_;
};

}  // namespace

void RegisterSoftmaxIdeep() { RegisterOperator<SoftmaxOnednnOp>(IDEEP, "Softmax", __FILE__); }

}  // namespace caffe2rt
