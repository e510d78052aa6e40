#include "operators/recurrent/rnn_internal_accumulate_gradient_input.h"

#include <algorithm>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void AddVector(int64_t n, const float* x, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] += x[i];
}

}  // namespace

void AddGradientRow(CPUContext&, int64_t n, const float* x, float* y) { AddVector(n, x, y); }

void SumOverBatch(CPUContext&, int64_t rows, int64_t n, const float* x, float* y) {
  std::fill_n(y, n, 0.0f);
  for (int64_t row = 0; row < rows; ++row) AddVector(n, x + row * n, y);
}

void RegisterRnnInternalAccumulateGradientInput() {
  RegisterSchema("rnn_internal_accumulate_gradient_input", __FILE__)
      .NumInputs(3)
      .NumOutputs(1, INT_MAX)
      .EnforceInplace({{2, 0}})
      .Arg(kAccumulateOffset)
      .Input(0, "timestep", "int32 [1], on the CPU")
      .Input(1, "output_grad", "[T, *]: the gradient of an output of RecurrentNetwork")
      .Input(2, "state_grad", "the gradient of the state of all time steps")
      .Output(0, "state_grad", "input 2, in place")
      .DeviceInferenceFunction(OnCPU({0}, {}))
      .Private()
      .SetDoc("Adds row timestep of output_grad to row timestep + offset of state_grad.");
  RegisterCpuOperator<AccumulateGradientInputOp<CPUContext>>(
      "rnn_internal_accumulate_gradient_input", __FILE__);
  // It is itself a part of a backward pass.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("rnn_internal_accumulate_gradient_input",
                                                      __FILE__);
}

}  // namespace caffe2rt
