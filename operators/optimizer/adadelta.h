#pragma once
// Adadelta (Zeiler 2012).
//   Adadelta: param, moment, moment_delta, grad, lr  ->  param, moment, moment_delta
//   SparseAdadelta: param [rows, row..], moment and moment_delta as param, indices,
//     grad [dims of indices.., row..], lr [1]  ->  param, moment, moment_delta (in place)
//
// The moments are running means of the squared gradient and of the squared step. The step is
// sqrt(moment_delta + epsilon) / sqrt(new moment + epsilon) * grad, and the new parameter is
// param + lr * step.

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/element_type.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kAdadeltaEpsilon{
    "epsilon",
    1e-5f,
    "is added to the moments",
    {[](float epsilon) { return epsilon >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<float> kAdadeltaDecay{
    "decay",
    0.95f,
    "weight of the previous moments, above 0 and below 1",
    {[](float decay) { return decay > 0 && decay < 1; }, "above 0 and below 1"}};

template <class Context, bool kSparse>
class AdadeltaOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AdadeltaOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->ReadArgument(kAdadeltaEpsilon)),
        decay_(this->ReadArgument(kAdadeltaDecay)) {}

  bool RunOnDevice() override {
    const NamedInput param{Input(0), "input 0 (param)"};
    const NamedInput moment{Input(1), "input 1 (moment)"};
    const NamedInput delta{Input(2), "input 2 (moment_delta)"};
    RequireSameSize(moment, param);
    RequireSameSize(delta, param);
    for (const NamedInput* input : {&param, &moment, &delta}) RequireElements<float>(input->tensor);
    if constexpr (kSparse) {
      const NamedInput grad{Input(4), "input 4 (grad)"};
      const NamedInput indices{Input(3), "input 3 (indices)"};
      const RowSizes sizes = SizesOfRows(param, indices, grad);
      const float* const rate = OneNumber({Input(5), "input 5 (lr)"});
      DispatchByType<int32_t, int64_t>(indices.tensor.dtype(), indices.name, [&](auto element) {
        using Index = decltype(element);
        const Index* const rows = indices.tensor.data<Index>();
        UpdateRows(context_, sizes, rows, MakeRule(grad.tensor, rate), &scratch_);
      });
    } else {
      const NamedInput grad{Input(3), "input 3 (grad)"};
      RequireSameSize(grad, param);
      const float* const rate = FirstNumber({Input(4), "input 4 (lr)"});
      UpdateAll(context_, grad.tensor.numel(), MakeRule(grad.tensor, rate));
    }
    return true;
  }

 private:
  AdadeltaRule MakeRule(const Tensor& grad, const float* rate) {
    AdadeltaRule rule{.rate = rate,
                      .param = Input(0).template data<float>(),
                      .moment = Input(1).template data<float>(),
                      .delta = Input(2).template data<float>(),
                      .grad = grad.data<float>(),
                      .out_param = nullptr,
                      .out_moment = nullptr,
                      .out_delta = nullptr,
                      .epsilon = epsilon_,
                      .decay = decay_};
    rule.out_param = this->template OutputData<float>(0, Input(0).sizes());
    rule.out_moment = this->template OutputData<float>(1, Input(1).sizes());
    rule.out_delta = this->template OutputData<float>(2, Input(2).sizes());
    return rule;
  }

  const float epsilon_, decay_;
  RowScratch<Context> scratch_;
};

}  // namespace caffe2rt
