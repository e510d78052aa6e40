// Flatten on IDEEP. The result is row-major.

#include <algorithm>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/shape/flatten.h"

namespace caffe2rt {

namespace {

class FlattenOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  FlattenOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), axis_(ReadArgument(kFlattenAxis)) {}

  void PlanAhead(const AheadInputs&) override {
    const Tensor& X = Input(0);
    FlattenedDims(X.sizes(), axis_, &dims_);
    if (X.opaque_layout() != nullptr) Plan(X);
    PrepareOutput(Output(0), dims_, nullptr);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    FlattenedDims(X.sizes(), axis_, &dims_);
    const float* const x = OnednnData(X);
    Tensor* Y = Output(0);
    if (X.opaque_layout() == nullptr) {
      float* const y = PrepareOutput(Y, dims_, nullptr);
      ForEachRange(X.numel(), 1, 1,
                   [&](int64_t first, int64_t last) { std::copy(x + first, x + last, y + first); });
      return true;
    }
    if (!input_.Matches(X)) Plan(X);
    if (Y != &X) {
      reorder_.Run(x, PrepareOutput(Y, dims_, nullptr));
      return true;
    }
    in_place_.Resize(X.numel());  // a reorder cannot write what it reads
    float* const values = in_place_.mutable_data<float>();
    reorder_.Run(x, values);
    std::copy_n(values, in_place_.numel(), PrepareOutput(Y, dims_, nullptr));
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();
    reorder_.Plan(DescOf(X), DescIn(OnednnFormat::kNchw, X.dims()));
    input_.Remember(X);
  }

  const int axis_;
  std::vector<int64_t> dims_;
  OnednnInput input_;
  OnednnReorder reorder_;
  Tensor in_place_{CPU};  // the result, if the output is the input
};

}  // namespace

void RegisterFlattenIdeep() { RegisterOperator<FlattenOnednnOp>(IDEEP, "Flatten", __FILE__); }

}  // namespace caffe2rt
