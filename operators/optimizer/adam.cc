#include "operators/optimizer/adam.h"

#include <cmath>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

AdamStep AdamStepOf(int64_t iteration, float beta1, float beta2, bool rectified) {
  const double t = static_cast<double>(iteration) + 1;
  const double first = 1 - std::pow(double{beta1}, t), power = std::pow(double{beta2}, t);
  const double correction = std::sqrt(1 - power) / first;
  if (!rectified) return {static_cast<float>(correction), true};
  // The length of the simple moving average that approximates the second moment, and its limit.
  const double limit = 2 / (1 - double{beta2}) - 1;
  const double length = limit - 2 * t * power / (1 - power);
  if (length < 5) return {static_cast<float>(1 / first), false};
  const double rectification =
      std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
  return {static_cast<float>(correction * rectification), true};
}

namespace {

OpSchema& SparseAdamSchema(const char* type, const char* moment2, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(7)
      .NumOutputs(3, 4)
      .EnforceInplace({{0, 0}, {1, 1}, {2, 2}})
      .Args(kAdamBeta1, kAdamBeta2, kAdamEpsilon)
      .Input(0, "param", "[rows, row..], float")
      .Input(1, "moment_1", "as many elements as param")
      .Input(2, "moment_2", moment2)
      .Input(3, "indices", "the rows to update, int32 or int64")
      .Input(4, "grad", "the gradient of the rows: [dims of indices.., row..]")
      .Input(5, "lr", "the learning rate: one element")
      .Input(6, "iter", "the iteration, int64, on the CPU")
      .Output(0, "param", "input 0")
      .Output(1, "moment_1", "input 1")
      .Output(2, "moment_2", "input 2")
      .Output(3, "step", "the step before multiplication by lr; the shape of grad")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2, 4}))
      .DeviceInferenceFunction(OnCPU({6}, {}))
      .SetDoc(doc);
}

}  // namespace

void RegisterAdam() {
  RegisterSchema("Adam", __FILE__)
      .NumInputs(6)
      .NumOutputs(3, 4)
      .AllowInplace({{0, 0}, {1, 1}, {2, 2}})
      .Args(kAdamBeta1, kAdamBeta2, kAdamEpsilon)
      .Input(0, "param", "the parameter, float")
      .Input(1, "moment_1", "the running mean of grad; as many elements as grad")
      .Input(2, "moment_2", "the running mean of grad^2; as many elements as grad")
      .Input(3, "grad", "as many elements as param")
      .Input(4, "lr", "the learning rate: one element")
      .Input(5, "iter", "the iteration, int64, on the CPU")
      .Output(0, "param", "the updated parameter")
      .Output(1, "moment_1", "the new first moment")
      .Output(2, "moment_2", "the new second moment")
      .Output(3, "step", "the step before multiplication by lr; the shape of grad")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2, 3}))
      .DeviceInferenceFunction(OnCPU({5}, {}))
      .SetDoc("Updates a parameter by Adam.");
  RegisterCpuOperator<AdamOp<CPUContext>>("Adam", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Adam", __FILE__);

  SparseAdamSchema("SparseAdam", "as many elements as param",
                   "Updates rows of a parameter by Adam.")
      .Arg(kEnableRAdam);
  RegisterCpuOperator<SparseAdamOp<CPUContext, false>>("SparseAdam", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseAdam", __FILE__);

  SparseAdamSchema(
      "RowWiseSparseAdam", "one element for each row",
      "Updates rows of a parameter by Adam with one second moment per row, the running "
      "mean of the mean of the squared gradients of the row.");
  RegisterCpuOperator<SparseAdamOp<CPUContext, true>>("RowWiseSparseAdam", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RowWiseSparseAdam", __FILE__);
}

}  // namespace caffe2rt
