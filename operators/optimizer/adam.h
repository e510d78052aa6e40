#pragma once
// Adam (Kingma and Ba 2014).
//   Adam: param, moment 1, moment 2, grad, lr [1], iter  ->  param, moment 1, moment 2, optional step
//   SparseAdam: param [rows, row..], moments as param, indices, grad [dims of indices.., row..],
//     lr [1], iter  ->  param, moment 1, moment 2 (in place), optional step as grad
//   RowWiseSparseAdam: the same with one second moment per row
//
// The moments are running means of the gradient and of its square; RowWiseSparseAdam takes the mean
// of the squares over the row. The step is (new moment 1) * c / (sqrt(new moment 2) + epsilon), where
// c = sqrt(1 - beta2^t) / (1 - beta1^t) with t = iter + 1 corrects the bias of the moments. The new
// parameter is param + lr * step. The iteration is an int64, on the CPU for every device.

#include "caffe2_core/runtime/dispatch.h"
#include "operators/common/element_type.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kAdamBeta1{"beta1", 0.9f,
                                                "weight of the previous first moment"};
inline constexpr ArgumentSpec<float> kAdamBeta2{"beta2", 0.999f,
                                                "weight of the previous second moment"};
inline constexpr ArgumentSpec<float> kAdamEpsilon{"epsilon", 1e-5f,
                                                  "is added to the root of the second moment"};
inline constexpr ArgumentSpec<bool> kEnableRAdam{
    "enableRAdam", false,
    "1: rectified Adam (Liu et al. 2019), which does not use the second moment in the first "
    "iterations, when its variance is not bounded"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The numbers of an iteration; the first one is 0.
AdamStep AdamStepOf(int64_t iteration, float beta1, float beta2, bool rectified);
#pragma GCC visibility pop

struct AdamArguments {
  float beta1, beta2, epsilon;
  template <class Operator>
  static AdamArguments Read(const Operator& op) {
    return {op.ReadArgument(kAdamBeta1), op.ReadArgument(kAdamBeta2),
            op.ReadArgument(kAdamEpsilon)};
  }
};

template <class Context>
class AdamOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AdamOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(AdamArguments::Read(*this)) {}

  bool RunOnDevice() override {
    const Tensor& param = Input(0);
    const Tensor& moment1 = Input(1);
    const Tensor& moment2 = Input(2);
    const Tensor& grad = Input(3);
    const NamedInput named_grad{grad, "input 3 (grad)"};
    RequireSameSize({param, "input 0 (param)"}, named_grad);
    RequireSameSize({moment1, "input 1 (moment_1)"}, named_grad);
    RequireSameSize({moment2, "input 2 (moment_2)"}, named_grad);
    const auto [beta1, beta2, epsilon] = arguments_;
    AdamRule rule{.rate = OneNumber({Input(4), "input 4 (lr)"}),
                  .param = param.data<float>(),
                  .moment1 = moment1.data<float>(),
                  .moment2 = moment2.data<float>(),
                  .grad = grad.data<float>(),
                  .out_param = nullptr,
                  .out_moment1 = nullptr,
                  .out_moment2 = nullptr,
                  .out_grad = nullptr,
                  .beta1 = beta1,
                  .beta2 = beta2,
                  .epsilon = epsilon,
                  .numbers = AdamStepOf(ReadIteration(*this, 5, &iteration_), beta1, beta2, false)};
    rule.out_param = this->template OutputData<float>(0, param.sizes());
    rule.out_moment1 = this->template OutputData<float>(1, moment1.sizes());
    rule.out_moment2 = this->template OutputData<float>(2, moment2.sizes());
    if (OutputSize() > 3) rule.out_grad = this->template OutputData<float>(3, grad.sizes());
    UpdateAll(context_, grad.numel(), rule);
    return true;
  }

 private:
  const AdamArguments arguments_;
  HostInput iteration_;
};

template <class Context, bool kRowWise>
class SparseAdamOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SparseAdamOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        arguments_(AdamArguments::Read(*this)),
        rectified_(!kRowWise && this->ReadArgument(kEnableRAdam)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(3).dtype(), "input 3 (indices)",
        [&](auto element) { return RunWith<decltype(element)>(); });
  }

 private:
  template <class Index>
  bool RunWith() {
    const Tensor& param = Input(0);
    const Tensor& moment1 = Input(1);
    const Tensor& moment2 = Input(2);
    const Tensor& grad = Input(4);
    const NamedInput named_param{param, "input 0 (param)"};
    const NamedInput indices{Input(3), "input 3 (indices)"};
    const RowSizes sizes = SizesOfRows(named_param, indices, {grad, "input 4 (grad)"});
    RequireSameSize({moment1, "input 1 (moment_1)"}, named_param);
    if constexpr (kRowWise) {
      CAFFE_ENFORCE_EQ(moment2.numel(), sizes.rows, "elements of input 2 (moment_2) of shape ",
                       moment2.sizes(), ", want one for each row of input 0 (param) of shape ",
                       param.sizes());
    } else {
      RequireSameSize({moment2, "input 2 (moment_2)"}, named_param);
    }
    for (const Tensor* tensor : {&param, &moment1, &moment2, &grad})
      RequireElements<float>(*tensor);
    const float* const rate = OneNumber({Input(5), "input 5 (lr)"});
    const auto [beta1, beta2, epsilon] = arguments_;
    const AdamStep numbers =
        AdamStepOf(ReadIteration(*this, 6, &iteration_), beta1, beta2, rectified_);
    RowWiseAdamRule rule{.rate = rate,
                         .param = param.data<float>(),
                         .moment1 = moment1.data<float>(),
                         .moment2 = moment2.data<float>(),
                         .grad = grad.data<float>(),
                         .out_param = nullptr,
                         .out_moment1 = nullptr,
                         .out_moment2 = nullptr,
                         .out_grad = nullptr,
                         .beta1 = beta1,
                         .beta2 = beta2,
                         .epsilon = epsilon,
                         .correction = numbers.correction};
    rule.out_param = this->template OutputData<float>(0, param.sizes());
    rule.out_moment1 = this->template OutputData<float>(1, moment1.sizes());
    rule.out_moment2 = this->template OutputData<float>(2, moment2.sizes());
    if (OutputSize() > 3) rule.out_grad = this->template OutputData<float>(3, grad.sizes());
    const Index* const rows = indices.tensor.data<Index>();
    if constexpr (kRowWise) {
      UpdateRows(context_, sizes, rows, rule, &scratch_);
    } else {
      const AdamRule elements{
          rule.rate,      rule.param,       rule.moment1,     rule.moment2,  rule.grad,
          rule.out_param, rule.out_moment1, rule.out_moment2, rule.out_grad, beta1,
          beta2,          epsilon,          numbers};
      UpdateRows(context_, sizes, rows, elements, &scratch_);
    }
    return true;
  }

  const AdamArguments arguments_;
  const bool rectified_;
  HostInput iteration_;
  RowScratch<Context> scratch_;
};

}  // namespace caffe2rt
