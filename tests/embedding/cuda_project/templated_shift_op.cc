#include "templated_shift_op.h"

namespace caffe2 {

template <>
bool TemplatedShiftOp<float, CPUContext>::RunOnDevice() {
  const Tensor<CPUContext>& X = Input(0);
  Tensor<CPUContext>* Y = Output(0);
  Y->ResizeLike(X);
  for (TIndex i = 0; i < X.size(); ++i) {
    Y->mutable_data<float>()[i] = X.data<float>()[i] + shift_;
  }
  return true;
}

REGISTER_CPU_OPERATOR(TemplatedShift, TemplatedShiftOp<float, CPUContext>);
OPERATOR_SCHEMA(TemplatedShift).NumInputs(1).NumOutputs(1).Arg("shift", "summand");

}  // namespace caffe2
