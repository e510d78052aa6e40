#pragma once
// WeightedSum: Y = X0 * W0 + X1 * W1 + ..., without broadcasting.
//   X0, W0, X1, W1, ...: X of the same number of elements, W with one element, float
//   ->  Y as X0 (may be X0)
//
// weighted_sum.cc has WeightedSumGradient, which runs on the CPU only.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/element_type.h"
#include "operators/elementwise/weighted_sum_kernels.h"

namespace caffe2rt {

// THROWS unless input `place` has one element.
inline void CheckWeight(int place, const Tensor& weight) {
  CAFFE_ENFORCE_EQ(weight.numel(), 1, "elements of input ", place, " (a weight) of shape ",
                   weight.sizes());
}

template <class Context>
class WeightedSumOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  WeightedSumOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), inputs_(static_cast<size_t>(InputSize() / 2)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    for (int i = 0; i + 1 < InputSize(); i += 2) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), X.numel(), "elements of input ", i, " of shape ",
                       Input(i).sizes(), ", want as many as input 0 of shape ", X.sizes());
      CheckWeight(i + 1, Input(i + 1));
      // Before the output is modified.
      RequireElements<float>(Input(i + 1));
      Input(i).template data<float>();
    }
    Tensor* Y = Output(0);
    if (Y != &X) Y->ResizeLike(X);
    float* const y = Y->template mutable_data<float>();
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const int i = static_cast<int>(2 * k);
      inputs_[k] = {Input(i).template data<float>(), Input(i + 1).template data<float>()};
    }
    WeightedSum(context_, inputs_.data(), inputs_.size(), X.numel(), y);
    return true;
  }

 private:
  std::vector<WeightedInput> inputs_;
};

}  // namespace caffe2rt
