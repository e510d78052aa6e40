#include "double_even_op.h"

namespace caffe2 {

template <>
bool DoubleEvenOp<float, CPUContext>::RunOnDevice() {
  const auto& X = Input(0);
  auto* Y = Output(0);
  CAFFE_ENFORCE(X.ndim() == 1, "X has ", X.ndim(), " dimensions, want 1");
  Y->CopyFrom(X);
  float* Y_data = Y->mutable_data<float>();
  for (auto i = 0; i < Y->size(); i += 2) {
    Y_data[i] *= 2;
  }
  return true;
}

REGISTER_CPU_OPERATOR(DoubleEven, DoubleEvenOp<float, CPUContext>);

OPERATOR_SCHEMA(DoubleEven)
    .NumInputs(1)
    .NumOutputs(1)
    .Input(0, "X", "1D input tensor")
    .Output(0, "Y", "1D output tensor, with the elements at even positions doubled");

}  // namespace caffe2
