#pragma once
// RmsProp: a step of RMSProp with momentum.
//   grad, mean_squares, moment, lr [1]  ->  step, mean_squares, moment, all as grad
//
// mean_squares is the running mean of grad^2 with weight `decay`. The new moment, which is also the
// step, is momentum * moment + lr * grad / sqrt(epsilon + new mean_squares).

#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kRmsPropDecay{"decay", 0.9f,
                                                   "weight of the previous mean of squares"};
inline constexpr ArgumentSpec<float> kRmsPropMomentum{"momentum", 0.0f,
                                                      "factor of the previous moment"};
inline constexpr ArgumentSpec<float> kRmsPropEpsilon{"epsilon", 1e-5f,
                                                     "is added to the mean of squares"};

template <class Context>
class RmsPropOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RmsPropOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        decay_(this->ReadArgument(kRmsPropDecay)),
        momentum_(this->ReadArgument(kRmsPropMomentum)),
        epsilon_(this->ReadArgument(kRmsPropEpsilon)) {}

  bool RunOnDevice() override {
    const Tensor& grad = Input(0);
    const Tensor& squares = Input(1);
    const Tensor& moment = Input(2);
    const NamedInput named_grad{grad, "input 0 (grad)"};
    RequireSameSize({squares, "input 1 (mean_squares)"}, named_grad);
    RequireSameSize({moment, "input 2 (moment)"}, named_grad);
    RmsPropRule rule{.rate = OneNumber({Input(3), "input 3 (lr)"}),
                     .grad = grad.data<float>(),
                     .squares = squares.data<float>(),
                     .moment = moment.data<float>(),
                     .out_grad = nullptr,
                     .out_squares = nullptr,
                     .out_moment = nullptr,
                     .decay = decay_,
                     .momentum = momentum_,
                     .epsilon = epsilon_};
    rule.out_grad = this->template OutputData<float>(0, grad.sizes());
    rule.out_squares = this->template OutputData<float>(1, squares.sizes());
    rule.out_moment = this->template OutputData<float>(2, moment.sizes());
    UpdateAll(context_, grad.numel(), rule);
    return true;
  }

 private:
  const float decay_, momentum_, epsilon_;
};

}  // namespace caffe2rt
