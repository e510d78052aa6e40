#include "operators/optimizer/learning_rate.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterLearningRate() {
  OpSchema& schema = RegisterSchema("LearningRate", __FILE__);
  schema.NumInputs(1)
      .NumOutputs(1)
      .Input(0, "iter", "the iteration, int64, on the CPU; the first element is used")
      .Output(0, "lr", "float scalar")
      .ScalarType(TensorProto_DataType_FLOAT)
      .DeviceInferenceFunction(OnCPU({0}, {}))
      .SetDoc(
          "Computes the learning rate of an iteration n, base_lr times a multiplier:\n"
          "fixed: 1\n"
          "step: gamma ^ (n / stepsize), rounded down\n"
          "exp: gamma ^ n\n"
          "inv: (1 + gamma * n) ^ -power\n"
          "poly: (1 - n / max_iter) ^ power\n"
          "alter: 1 for active_period iterations, 0 for inactive_period iterations, repeated\n"
          "gate: multiplier_1 for num_iter iterations, then multiplier_2\n"
          "slope: multiplier_1, from num_iter_1 on a line that reaches multiplier_2 at num_iter_2; "
          "then not less than multiplier_2\n"
          "linearWarmup: a line from start_multiplier to 1 at num_iter\n"
          "constantWarmup: multiplier for num_iter iterations, then 1\n"
          "pieceWarmup: m1 before n1, m2 before n2, then m3\n"
          "constantThenLinearWarmup: start_warmup_multiplier for constant_warmup_num_iter "
          "iterations, then a line to 1 in linear_warmup_num_iter iterations\n"
          "hill: linearWarmup, then inv, but at least end_multiplier\n"
          "cyclical: a triangle between 1 and |max_lr / base_lr| with a rise of stepsize "
          "iterations; "
          "its height is multiplied by decay for each cycle\n"
          "cosine: half a cosine wave from max_lr to min_lr in `period` iterations, repeated; each "
          "cycle is longer by the factor t_mult and lower by the factor lr_shrink\n"
          "compositeCyclical, compositeCosine: constantThenLinearWarmup, then cyclical or cosine\n"
          "composite: several policies in turn, see sub_policy_num_iters.");
  DeclareLearningRateArguments(schema);
  RegisterCpuOperator<LearningRateOp<CPUContext>>("LearningRate", __FILE__);
  // The iteration has no gradient.
  RegisterGradient<NoGradient>("LearningRate", __FILE__);
}

}  // namespace caffe2rt
