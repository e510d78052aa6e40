#pragma once
// SumElements, SumElementsInt, SumSqrElements: reduce all elements to one number, a tensor of rank
// 0.
//   X of any shape; with `average` the sum is divided by the number of elements, unless that is 0.
// SumElementsGradient: every element has the gradient of the sum, or of the average.
//   X, dY with one element, float  ->  dX

#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"
#include "operators/reduce/reduction_gradient.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kSumAverage{"average", false,
                                                "1: divide by the number of elements"};

template <class Context, class Sum, class Average, class... Types>
class SumElementsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SumElementsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), average_(this->ReadArgument(kSumAverage)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<Types...>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* x = X.data<T>();
      const int64_t dims[] = {X.numel()};
      plan_.Make(dims, reduced_);
      T* y = this->template OutputData<T>(0, {});
      if (average_) {
        Reduce<Average>(context_, plan_, x, y, &scratch_);
      } else {
        Reduce<Sum>(context_, plan_, x, y, &scratch_);
      }
      return true;
    });
  }

 private:
  const bool average_;
  const std::vector<char> reduced_ = {1};
  ReducePlan plan_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class SumElementsGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SumElementsGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), average_(this->ReadArgument(kSumAverage)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(1);
    CAFFE_ENFORCE_EQ(dY.numel(), 1, "elements of input 1 (dY) of shape ", dY.sizes());
    const float* dy = dY.data<float>();
    const int64_t dims[] = {X.numel()};
    plan_.Make(dims, reduced_);
    float* dx = this->template OutputData<float>(0, X.sizes());
    const float* const unused = nullptr;
    if (average_) {
      ReduceGradient<MeanOf>(context_, plan_, dy, unused, unused, dx);
    } else {
      ReduceGradient<SumOf>(context_, plan_, dy, unused, unused, dx);
    }
    return true;
  }

 private:
  const bool average_;
  const std::vector<char> reduced_ = {1};
  ReducePlan plan_;
};

}  // namespace caffe2rt
