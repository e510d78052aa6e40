#pragma once
// Elementwise operators y[i] = f(x[i]) on IDEEP: Y has the layout of X.
//
//   RegisterUnaryOnednn(kActivations, __FILE__);      // <stem>_ideep.cc

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/onednn_planes.h"
#include "operators/elementwise/unary.h"

namespace caffe2rt {

// y[i] = f(x[i]) for `n` floats, on the threads of the process. y may be x.
template <class Function>
void MapOnThreads(int64_t n, const Function& f, const float* x, float* y) {
  constexpr int64_t kCost = 2;
  const internal::MapKernel<Function> kernel{f};
  ForEachRange(n, 1, kCost, [&](int64_t first, int64_t last) {
    RunSimd(kernel, last - first, x + first, y + first);
  });
}

template <class Function>
class UnaryOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  UnaryOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws), function_(MakeFunction<Function>(args())) {}

  void PlanAhead(const AheadInputs&) override {
    Plan(Input(0));
    PrepareOutput(Output(0), Input(0).dims(), layout_);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0);
    const float* const x = OnednnData(X);
    if (!input_.Matches(X)) Plan(X);
    const int64_t count = FloatsOf(X);
    const InplaceInput kept(X, Y);
    float* const y = PrepareOutput(Y, X.dims(), layout_);
    MapOnThreads(count, function_, x, y);
    // f(0) may be another number than 0.
    if (planes_.has_value()) ClearPadding(*planes_, y);
    return true;
  }

 private:
  void Plan(const Tensor& X) {
    input_.Forget();
    layout_ = SharedLayout(X);
    planes_ = PlanesOf(X);
    input_.Remember(X);
  }

  const Function function_;
  OnednnInput input_;
  std::shared_ptr<const OnednnLayout> layout_;
  std::optional<ChannelPlanes> planes_;
};

// Registers the operators of each row. Gradients have no implementation on IDEEP.
template <class... Rows>
void RegisterUnaryOnednn(const FunctionTable<Rows...>& table, const char* file) {
  table.ForEach([file]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    RegisterOperator<UnaryOnednnOp<Function>>(IDEEP, row.type, file);
  });
}

}  // namespace caffe2rt
