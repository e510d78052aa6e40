#pragma once
// AveragedLoss: the mean of all elements, a tensor of rank 0; 0 if there are none.
//   X of any shape, float  ->  float scalar
// AveragedLossGradient: every element has the gradient of the mean, divided by their number.
//   X, dY with one element  ->  dX

#include "caffe2_core/runtime/operator.h"
#include "operators/loss/loss_kernels.h"

namespace caffe2rt {

template <class Context>
class AveragedLossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AveragedLossOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* const x = X.data<float>();
    Average(context_, X.numel(), x, this->template OutputData<float>(0, {}), &scratch_);
    return true;
  }

 private:
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class AveragedLossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AveragedLossGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(1);
    CAFFE_ENFORCE_EQ(dY.numel(), 1, "elements of input 1 (dY) of shape ", dY.sizes());
    const float* const dy = dY.data<float>();
    AverageGradient(context_, X.numel(), dy, this->template OutputData<float>(0, X.sizes()));
    return true;
  }
};

}  // namespace caffe2rt
