#pragma once
// MakeTwoClass: turns the probability of one class into those of two classes.
//   X any shape, float  ->  Y [X.., 2], with Y[.., 0] = 1 - X and Y[.., 1] = X
// MakeTwoClassGradient:
//   dY [.., 2]  ->  dX [..]

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/loss/loss_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS unless the last dimension is 2.
void CheckTwoClasses(IntArrayRef dy);
#pragma GCC visibility pop

template <class Context>
class MakeTwoClassOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MakeTwoClassOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* const x = X.data<float>();
    dims_.assign(X.sizes().begin(), X.sizes().end());
    dims_.push_back(2);
    MakeTwoClasses(context_, X.numel(), x, this->template OutputData<float>(0, dims_));
    return true;
  }

 private:
  std::vector<int64_t> dims_;
};

template <class Context>
class MakeTwoClassGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MakeTwoClassGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    CheckTwoClasses(dY.sizes());
    const float* const dy = dY.data<float>();
    const IntArrayRef dims = dY.sizes().slice(0, dY.sizes().size() - 1);
    MakeTwoClassesGradient(context_, dY.numel() / 2, dy, this->template OutputData<float>(0, dims));
    return true;
  }
};

}  // namespace caffe2rt
