#pragma once
// AdaGrad (Duchi et al. 2011).
//   Adagrad: param, moment, grad, lr
//     ->  param, moment, optional effective learning rate, optional update, both as grad
//   SparseAdagrad: param [rows, row..], moment as param, indices, grad [dims of indices.., row..],
//     lr [1]  ->  param, moment (in place)
//   RowWiseSparseAdagrad: the same with one moment per row
//
// With d = grad + weight_decay * param: the new moment is decay * moment + d^2, the effective
// learning rate is lr / (sqrt(new moment) + epsilon), and the update, which is added to param, is d
// times that. RowWiseSparseAdagrad adds the mean of d^2 over the row to the moment.

#include "caffe2_core/runtime/dispatch.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kAdagradEpsilon{"epsilon", 1e-5f,
                                                     "is added to the root of the moment"};
inline constexpr ArgumentSpec<float> kAdagradDecay{"decay", 1.0f, "factor of the previous moment"};
inline constexpr ArgumentSpec<float> kSparseAdagradDecay{
    "decay",
    1.0f,
    "for compatibility; must be 1",
    {[](float decay) { return decay == 1.0f; }, "1"}};
inline constexpr ArgumentSpec<float> kAdagradWeightDecay{
    "weight_decay", 0.0f, "weight_decay * param is added to the gradient"};

template <class Context>
class AdagradOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AdagradOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->ReadArgument(kAdagradEpsilon)),
        decay_(this->ReadArgument(kAdagradDecay)),
        weight_decay_(this->ReadArgument(kAdagradWeightDecay)) {}

  bool RunOnDevice() override {
    const Tensor& param = Input(0);
    const Tensor& moment = Input(1);
    const Tensor& grad = Input(2);
    const NamedInput named_grad{grad, "input 2 (grad)"};
    RequireSameSize({moment, "input 1 (moment)"}, named_grad);
    RequireSameSize({param, "input 0 (param)"}, named_grad);
    AdagradRule rule{.rate = FirstNumber({Input(3), "input 3 (lr)"}),
                     .param = param.data<float>(),
                     .moment = moment.data<float>(),
                     .grad = grad.data<float>(),
                     .out_param = nullptr,
                     .out_moment = nullptr,
                     .out_effective = nullptr,
                     .out_update = nullptr,
                     .epsilon = epsilon_,
                     .decay = decay_,
                     .weight_decay = weight_decay_};
    rule.out_param = this->template OutputData<float>(0, param.sizes());
    rule.out_moment = this->template OutputData<float>(1, moment.sizes());
    if (OutputSize() > 2) rule.out_effective = this->template OutputData<float>(2, grad.sizes());
    if (OutputSize() > 3) rule.out_update = this->template OutputData<float>(3, grad.sizes());
    UpdateAll(context_, grad.numel(), rule);
    return true;
  }

 private:
  const float epsilon_, decay_, weight_decay_;
};

template <class Context, bool kRowWise>
class SparseAdagradOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SparseAdagradOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->ReadArgument(kAdagradEpsilon)),
        weight_decay_(this->ReadArgument(kAdagradWeightDecay)) {
    if (!kRowWise) (void)this->ReadArgument(kSparseAdagradDecay);  // THROWS unless it is 1
  }

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(2).dtype(), "input 2 (indices)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& param = Input(0);
    const Tensor& moment = Input(1);
    const NamedInput named_param{param, "input 0 (param)"};
    const NamedInput indices{Input(2), "input 2 (indices)"};
    const NamedInput grad{Input(3), "input 3 (grad)"};
    const RowSizes sizes = SizesOfRows(named_param, indices, grad);
    if constexpr (kRowWise) {
      CAFFE_ENFORCE_EQ(moment.numel(), sizes.rows, "elements of input 1 (moment) of shape ",
                       moment.sizes(), ", want one for each row of input 0 (param) of shape ",
                       param.sizes());
    } else {
      RequireSameSize({moment, "input 1 (moment)"}, named_param);
    }
    const float* const rate = OneNumber({Input(4), "input 4 (lr)"});
    const float* const old_param = param.data<float>();
    const float* const old_moment = moment.data<float>();
    const float* const values = grad.tensor.data<float>();
    const Index* const rows = indices.tensor.data<Index>();
    float* const out_param = this->template OutputData<float>(0, param.sizes());
    float* const out_moment = this->template OutputData<float>(1, moment.sizes());
    if constexpr (kRowWise) {
      const RowWiseAdagradRule rule{.rate = rate,
                                    .param = old_param,
                                    .moment = old_moment,
                                    .grad = values,
                                    .out_param = out_param,
                                    .out_moment = out_moment,
                                    .epsilon = epsilon_,
                                    .weight_decay = weight_decay_};
      UpdateRows(context_, sizes, rows, rule, &scratch_);
    } else {
      const AdagradRule rule{.rate = rate,
                             .param = old_param,
                             .moment = old_moment,
                             .grad = values,
                             .out_param = out_param,
                             .out_moment = out_moment,
                             .out_effective = nullptr,
                             .out_update = nullptr,
                             .epsilon = epsilon_,
                             .decay = 1.0f,
                             .weight_decay = weight_decay_};
      UpdateRows(context_, sizes, rows, rule, &scratch_);
    }
    return true;
  }

  const float epsilon_, weight_decay_;
  RowScratch<Context> scratch_;
};

}  // namespace caffe2rt
