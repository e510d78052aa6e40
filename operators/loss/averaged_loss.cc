#include "operators/loss/averaged_loss.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

namespace {

struct ElementAt {
  const float* x;
  CAFFE2RT_SIMD_INLINE double operator()(int64_t i) const { return x[i]; }
};

struct AverageKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, const float* x, float* y) const {
    *y = static_cast<float>(SumOfTerms<double>(n, ElementAt{x}) / static_cast<double>(n));
  }
};

class GetAveragedLossGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("AveragedLossGradient", "", {I(0), GO(0)}, {GI(0)});
  }
};

}  // namespace

void Average(CPUContext&, int64_t n, const float* x, float* y, Tensor*) {
  if (n == 0) {
    *y = 0;
  } else {
    RunSimd(AverageKernel{}, n, x, y);
  }
}

void AverageGradient(CPUContext&, int64_t n, const float* dy, float* dx) {
  if (n > 0) std::fill(dx, dx + n, *dy / static_cast<float>(n));
}

void RegisterAveragedLoss() {
  RegisterSchema("AveragedLoss", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "any shape, float")
      .Output(0, "Y", "float scalar: a tensor of rank 0")
      .ScalarType(TensorProto_DataType_FLOAT)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc("Computes the mean of all elements, or 0 if there are none.");
  RegisterCpuOperator<AveragedLossOp<CPUContext>>("AveragedLoss", __FILE__);
  RegisterGradient<GetAveragedLossGradient>("AveragedLoss", __FILE__);

  RegisterSchema("AveragedLossGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "the input of AveragedLoss, for its shape")
      .Input(1, "dY", "the gradient of the mean: float, one element")
      .Output(0, "dX", "the gradient of X")
      .TensorInferenceFunction(InferShapeAndType(0, 1))
      .SetDoc("Computes the gradient of AveragedLoss.");
  RegisterCpuOperator<AveragedLossGradientOp<CPUContext>>("AveragedLossGradient", __FILE__);
}

}  // namespace caffe2rt
