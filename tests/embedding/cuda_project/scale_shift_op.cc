#include "scale_shift_op.h"

#include "caffe2/operators/operator_fallback_gpu.h"

namespace caffe2 {

template <>
bool ScaleShiftOp<float, CPUContext>::RunOnDevice() {
  auto& X = Input(0);
  auto* Y = Output(0);
  Y->ResizeLike(X);
  const float* x = X.data<float>();
  float* y = Y->mutable_data<float>();
  for (int i = 0; i < X.size(); ++i) y[i] = scale_ * x[i] + shift_;
  return true;
}

REGISTER_CPU_OPERATOR(ScaleShift, ScaleShiftOp<float, CPUContext>);
OPERATOR_SCHEMA(ScaleShift)
    .NumInputs(1)
    .NumOutputs(1)
    .IdenticalTypeAndShape()
    .Arg("scale", "factor")
    .Arg("shift", "summand");

// Runs the CPU operator on the device.
REGISTER_CUDA_OPERATOR(ScaleShiftFallback, GPUFallbackOp<ScaleShiftOp<float, CPUContext>>);
OPERATOR_SCHEMA(ScaleShiftFallback)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg("scale", "factor")
    .Arg("shift", "summand");

// The same in the form of later Caffe2 versions: falls back to the CPU operator of the same type.
REGISTER_CPU_OPERATOR(ScaleShiftByType, ScaleShiftOp<float, CPUContext>);
REGISTER_CUDA_OPERATOR(ScaleShiftByType, GPUFallbackOp);
OPERATOR_SCHEMA(ScaleShiftByType)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg("scale", "factor")
    .Arg("shift", "summand");

NO_GRADIENT(ScaleShift);
NO_GRADIENT(ScaleShiftByType);
NO_GRADIENT(ScaleShiftFallback);

}  // namespace caffe2
