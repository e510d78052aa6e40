#pragma once
// ConvFusion: a convolution, an optional addition and an activation in one operator. Graph passes
// create it from Conv and the operators behind it.
//   X, filter, optional bias as for Conv, optional S [like Y]  ->  Y = activation(Conv(X) + S)
// S is the last input if the argument `sum` is 1. Y may be in place with S.

#include <memory>

#include "operators/conv/conv.h"
#include "operators/conv/conv_epilogue.h"

namespace caffe2rt {

// The positions of the optional inputs, or -1.
struct ConvFusionInputs {
  int bias = -1;
  int sum = -1;
};
// THROWS if the inputs do not match the argument `sum`, or if output 0 is in place with another
// input than S.
ConvFusionInputs FindConvFusionInputs(OperatorBase& op, const ConvEpilogue& epilogue);

class ConvFusionOnCpuOp final : public Operator<CPUContext>,
                                public ChoosesKernel,
                                public PlansAhead {
 public:
  ConvFusionOnCpuOp(const OperatorDef& def, Workspace* ws);
  bool RunOnDevice() override;
  void PlanAhead(const AheadInputs& inputs) override;
  bool PreparesWeights() const override { return true; }
  std::optional<KernelChoice> Kernel() const override {
    if (plan_ == nullptr) return std::nullopt;
    return KernelChoiceOf(plan_->choice());
  }

 private:
  void Plan(const Tensor& X, const Tensor& filter);

  const WindowArguments window_;
  const ConvEpilogue epilogue_;
  const ConvFusionInputs inputs_;
  const ConvLimits limits_;
  std::unique_ptr<ConvPlan> plan_;
  std::vector<int64_t> x_dims_, filter_dims_, y_dims_;  // the shapes that were planned
  Tensor s_copy_{CPU};                                  // of S if Y is in place
};

}  // namespace caffe2rt
