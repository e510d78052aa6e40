#pragma once
// Conv, Conv1D, Conv2D, Conv3D: convolution over any number of axes. The four types are one
// operator; the number of axes follows from the kernel arguments.
//   X [N, C, in...], filter [M, C / group, kernel...], optional bias [M]
//   ->  Y [N, M, out...]
// In NHWC: X [N, in..., C], filter [M, kernel..., C / group], Y [N, out..., M].
// Supports float only.

#include <memory>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/window_arguments.h"
#include "operators/conv/conv_checks.h"
#include "operators/conv/conv_plan.h"

namespace caffe2rt {

// Runner policy: plans and runs convolutions on the CPU. Other devices provide a class with the
// same members.
class ConvOnCpu {
 public:
  explicit ConvOnCpu(const OperatorBase& op)
      : limits_{.deterministic = op.ReadArgument(kDeterministic) != 0} {}

  // Plans for `shape`; later calls of Run use this plan.
  void Plan(const ConvShape& shape) {
    plan_ = nullptr;  // free its memory before the new plan is built
    plan_ = std::make_unique<ConvPlan>(shape, limits_);
  }
  // `bias` may be null. REQUIRES: Plan was called; Y is not empty.
  void Run(CPUContext&, const float* x, const Tensor& filter, const float* bias, float* y) {
    plan_->Run(x, filter, bias, y);
  }
  // REQUIRES: Plan was called. A device may lack this function, and the next one.
  void Prepare(const Tensor& filter) { plan_->Prepare(filter); }
  // Empty before the first plan.
  std::optional<KernelChoice> Kernel() const {
    if (plan_ == nullptr) return std::nullopt;
    return KernelChoiceOf(plan_->choice());
  }

 private:
  const ConvLimits limits_;
  std::unique_ptr<ConvPlan> plan_;
};

template <class Context, class Runner>
class ConvOp final : public Operator<Context>, public ChoosesKernel, public PlansAhead {
 public:
  USE_OPERATOR_FUNCTIONS(Context);

  ConvOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kConv)),
        runner_(*this) {}

  void PlanAhead(const AheadInputs& inputs) override {
    const Tensor& X = Input(0);
    const Tensor& filter = Input(1);
    Plan(X, filter);
    if constexpr (requires { runner_.Prepare(filter); }) {
      if (inputs.is_constant(1)) runner_.Prepare(filter);
    }
    Output(0)->Resize(y_dims_);
    (void)Output(0)->template mutable_data<float>();
  }
  bool PreparesWeights() const override { return true; }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& filter = Input(1);
    const float* x = X.template data<float>();
    filter.template CheckData<float>();
    if (x_dims_.empty() || X.dims() != x_dims_ || filter.dims() != filter_dims_) Plan(X, filter);
    const float* bias = InputSize() > 2 ? ConvBias(Input(2), filter_dims_[0]) : nullptr;
    Tensor* Y = Output(0);
    Y->Resize(y_dims_);
    float* y = Y->template mutable_data<float>();
    if (Y->numel() > 0) runner_.Run(context_, x, filter, bias, y);
    return true;
  }

  std::optional<KernelChoice> Kernel() const override {
    if constexpr (requires { runner_.Kernel(); }) return runner_.Kernel();
    return std::nullopt;
  }

 private:
  void Plan(const Tensor& X, const Tensor& filter) {
    x_dims_.clear();  // if a check below throws, the next run plans again
    const ConvShape shape = MakeConvShape(window_, X.sizes(), filter.sizes(), InputSize() > 2);
    y_dims_ = shape.window.OutputDims(shape.out_channels);
    runner_.Plan(shape);
    x_dims_ = X.dims();
    filter_dims_ = filter.dims();
  }

  const WindowArguments window_;
  Runner runner_;
  std::vector<int64_t> x_dims_, filter_dims_, y_dims_;  // the shapes that were planned
};

}  // namespace caffe2rt
