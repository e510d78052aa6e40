#pragma once
// Gradient descent with momentum.
//   MomentumSGD, MomentumSGDUpdate, FP32MomentumSGDUpdate, FP16MomentumSGDUpdate (float16, lr float)
//     grad, moment, lr [1], param (not MomentumSGD)  ->  step, moment, param (not MomentumSGD)
//   SparseMomentumSGDUpdate: the same for the rows of param that indices name
//     grad [dims of indices.., row..], moment as param, lr [1], param [rows, row..], indices
//     ->  step as grad, moment, param
//
// The new moment is momentum * moment + lr * grad. The step is the new moment or, with nesterov,
// (1 + momentum) * (new moment) - momentum * moment. The new parameter is param - step.

#include "caffe2_core/runtime/dispatch.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kMomentum{"momentum", 0.0f, "factor of the previous moment"};
inline constexpr ArgumentSpec<bool> kNesterov{"nesterov", false, "1: Nesterov's momentum"};
inline constexpr ArgumentSpec<int> kMomentumFp32Update{
    "fp32_update", 0, "for compatibility; the arithmetic is always done in float"};
inline constexpr ArgumentSpec<float> kMomentumWeightDecay{
    "weight_decay", 0.0f, "weight_decay * param is added to the gradient"};

template <class Context>
class MomentumSGDOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MomentumSGDOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        momentum_(this->ReadArgument(kMomentum)),
        nesterov_(this->ReadArgument(kNesterov)) {}

  bool RunOnDevice() override {
    const Tensor& grad = Input(0);
    const Tensor& moment = Input(1);
    RequireSameSize({grad, "input 0 (grad)"}, {moment, "input 1 (moment)"});
    MomentumRule rule{.rate = OneNumber({Input(2), "input 2 (lr)"}),
                      .grad = grad.data<float>(),
                      .moment = moment.data<float>(),
                      .param = nullptr,
                      .out_grad = nullptr,
                      .out_moment = nullptr,
                      .out_param = nullptr,
                      .momentum = momentum_,
                      .weight_decay = 0.0f,
                      .nesterov = nesterov_};
    rule.out_grad = this->template OutputData<float>(0, grad.sizes());
    rule.out_moment = this->template OutputData<float>(1, moment.sizes());
    UpdateAll(context_, grad.numel(), rule);
    return true;
  }

 private:
  const float momentum_;
  const bool nesterov_;
};

// `Rule` is MomentumRule, or HalfMomentumRule for T float16. If kLeavesParam is true, the parameter is only updated in place. Caffe2 does not update it
// otherwise and leaves output 2 empty.
template <class Context, class T, class Rule, bool kDecaysWeights, bool kLeavesParam>
class MomentumSGDUpdateOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MomentumSGDUpdateOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        momentum_(this->ReadArgument(kMomentum)),
        nesterov_(this->ReadArgument(kNesterov)),
        weight_decay_(kDecaysWeights ? this->ReadArgument(kMomentumWeightDecay) : 0.0f) {}

  bool RunOnDevice() override {
    const Tensor& grad = Input(0);
    const Tensor& moment = Input(1);
    const Tensor& param = Input(3);
    const NamedInput named_grad{grad, "input 0 (grad)"};
    RequireSameSize(named_grad, {moment, "input 1 (moment)"});
    RequireSameSize({param, "input 3 (param)"}, named_grad);
    Rule rule{.rate = OneNumber({Input(2), "input 2 (lr)"}),
              .grad = grad.data<T>(),
              .moment = moment.data<T>(),
              .param = param.data<T>(),
              .out_grad = nullptr,
              .out_moment = nullptr,
              .out_param = nullptr,
              .momentum = momentum_,
              .weight_decay = weight_decay_,
              .nesterov = nesterov_};
    rule.out_grad = this->template OutputData<T>(0, grad.sizes());
    rule.out_moment = this->template OutputData<T>(1, moment.sizes());
    if (kLeavesParam && !this->IsInputOutputAlias(3, 2)) {
      this->template OutputData<T>(2, {0});
      rule.param = nullptr;
    } else {
      rule.out_param = this->template OutputData<T>(2, param.sizes());
    }
    UpdateAll(context_, grad.numel(), rule);
    return true;
  }

 private:
  const float momentum_;
  const bool nesterov_;
  const float weight_decay_;
};

template <class Context>
class SparseMomentumSGDUpdateOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SparseMomentumSGDUpdateOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        momentum_(this->ReadArgument(kMomentum)),
        nesterov_(this->ReadArgument(kNesterov)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(4).dtype(), "input 4 (indices)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& grad = Input(0);
    const Tensor& param = Input(3);
    const NamedInput named_param{param, "input 3 (param)"};
    const NamedInput indices{Input(4), "input 4 (indices)"};
    RequireSameSize({Input(1), "input 1 (moment)"}, named_param);
    const RowSizes sizes = SizesOfRows(named_param, indices, {grad, "input 0 (grad)"});
    MomentumRule rule{.rate = OneNumber({Input(2), "input 2 (lr)"}),
                      .grad = grad.data<float>(),
                      .moment = Input(1).template data<float>(),
                      .param = param.data<float>(),
                      .out_grad = nullptr,
                      .out_moment = nullptr,
                      .out_param = nullptr,
                      .momentum = momentum_,
                      .weight_decay = 0.0f,
                      .nesterov = nesterov_};
    rule.out_grad = this->template OutputData<float>(0, grad.sizes());
    rule.out_moment = this->template OutputData<float>(1, Input(1).sizes());
    rule.out_param = this->template OutputData<float>(2, param.sizes());
    UpdateRows(context_, sizes, indices.tensor.data<Index>(), rule, &scratch_);
    return true;
  }

  const float momentum_;
  const bool nesterov_;
  RowScratch<Context> scratch_;
};

template <class Context>
using FloatMomentumSGDUpdateOp = MomentumSGDUpdateOp<Context, float, MomentumRule, false, true>;
template <class Context>
using FP32MomentumSGDUpdateOp = MomentumSGDUpdateOp<Context, float, MomentumRule, true, false>;
template <class Context>
using FP16MomentumSGDUpdateOp =
    MomentumSGDUpdateOp<Context, float16, HalfMomentumRule, true, false>;

}  // namespace caffe2rt
