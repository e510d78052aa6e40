#include "operators/optimizer/yellow_fin.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/optimizer/sum_terms.h"

namespace caffe2rt {

namespace {

struct MeanSquareTerm {
  YellowFinSums sums;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return sums.MeanSquare(i); }
};

}  // namespace

void ComputeYellowFinSums(CPUContext&, int64_t n, const YellowFinSums& sums, Tensor*) {
  sums.Finish({DotProduct(n, sums.grad, sums.grad), SumTerms(n, MeanSquareTerm{sums})});
}

void ComputeYellowFinNumbers(CPUContext&, const YellowFinNumbers& numbers) { numbers(0); }

void RegisterYellowFin() {
  RegisterSchema("YellowFin", __FILE__)
      .NumInputs(10)
      .NumOutputs(8)
      .AllowInplace({{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}})
      .Args(kYellowFinBeta, kYellowFinWidth, kYellowFinEpsilon, kYellowFinNesterov,
            kYellowFinZeroDebias)
      .Input(0, "param", "the parameter, float")
      .Input(1, "moment", "as many elements as param")
      .Input(2, "lr", "the learning rate: one element")
      .Input(3, "mu", "the momentum: one element")
      .Input(4, "curv_win", "the logarithms of the latest squared norms: curv_win_width elements")
      .Input(5, "g_avg", "the moving average of the gradient; as many elements as param")
      .Input(6, "g2_avg", "the moving average of its square; as many elements as param")
      .Input(7, "scalars_memory", "5 moving averages")
      .Input(8, "grad", "as many elements as param")
      .Input(9, "iter", "the iteration, 1 or more, int64, on the CPU")
      .Output(0, "param", "the updated parameter")
      .Output(1, "moment", "the new moment")
      .Output(2, "lr", "the learning rate of the next iteration")
      .Output(3, "mu", "the momentum of the next iteration")
      .Output(4, "curv_win", "input 4, updated")
      .Output(5, "g_avg", "input 5, updated")
      .Output(6, "g2_avg", "input 6, updated")
      .Output(7, "scalars_memory", "input 7, updated")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2, 3, 4, 5, 6, 7}))
      .DeviceInferenceFunction(OnCPU({9}, {}))
      .SetDoc(
          "Updates a parameter by gradient descent with momentum, and tunes the learning rate and "
          "the momentum by YellowFin.");
  RegisterCpuOperator<YellowFinOp<CPUContext>>("YellowFin", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("YellowFin", __FILE__);
}

}  // namespace caffe2rt
