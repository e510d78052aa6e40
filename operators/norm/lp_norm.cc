// LpNorm: the sum of the absolute values (p = 1) or of the squares (p = 2) of a tensor. With
// `average` it is divided by the number of elements. No root is taken.
//   X  ->  Z [1]
//
// LpNormGradient: X, dZ [1]  ->  dX

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kLpNormP{
    "p", 2, "order of the norm, 1 or 2", {[](int p) { return p == 1 || p == 2; }, "1 or 2"}};
constexpr ArgumentSpec<bool> kLpNormAverage{"average", false,
                                            "1: divide by the number of elements"};

// The sum of |x| or of x^2. The sums of a block are formed in float, those of the blocks in double.
CAFFE2RT_SIMD_FMA double SumOfPowers(const float* x, int64_t n, bool squares) {
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = std::min(start + kBlock, n);
    math::Lanes v, sum = {};
    int64_t i = start;
    for (; i + math::kLanes <= end; i += math::kLanes) {
      math::Load(x + i, v);
      if (squares) {
        sum += v * v;
      } else {
        sum += v < 0 ? -v : v;
      }
    }
    float rest = 0;
    for (; i < end; ++i) rest += squares ? x[i] * x[i] : std::fabs(x[i]);
    total += math::Sum(sum) + rest;
  }
  return total;
}

// The signs of numbers within kZero of 0 count as 0, as in Caffe2.
constexpr float kZero = 1e-12f;

CAFFE2RT_SIMD_FMA void ScaleSigns(const float* x, int64_t n, float factor, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] > kZero ? factor : x[i] < -kZero ? -factor : 0.0f;
}
CAFFE2RT_SIMD_FMA void ScaleValues(const float* x, int64_t n, float factor, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = factor * x[i];
}

// The number by which the sum is divided. THROWS for the mean of no elements.
float LpNormDivisor(const Tensor& X, bool average) {
  if (!average) return 1;
  CAFFE_ENFORCE_GT(X.numel(), 0, "elements of input 0 (X) of shape ", X.sizes(),
                   ", want at least 1 with argument average");
  return static_cast<float>(X.numel());
}

class LpNormOp final : public Operator<CPUContext> {
 public:
  LpNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        p_(this->ReadArgument(kLpNormP)),
        average_(this->ReadArgument(kLpNormAverage)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float divisor = LpNormDivisor(X, average_);
    const double sum = SumOfPowers(X.data<float>(), X.numel(), p_ == 2);
    *OutputData<float>(0, {1}) = static_cast<float>(sum / divisor);
    return true;
  }

 private:
  const int p_;
  const bool average_;
};

class LpNormGradientOp final : public Operator<CPUContext> {
 public:
  LpNormGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        p_(this->ReadArgument(kLpNormP)),
        average_(this->ReadArgument(kLpNormAverage)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dZ = Input(1);
    CAFFE_ENFORCE_EQ(dZ.numel(), 1, "elements of input 1 (dout) of shape ", dZ.sizes());
    const float factor = *dZ.data<float>() / LpNormDivisor(X, average_);
    const float* x = X.data<float>();
    float* dx = OutputData<float>(0, X.sizes());
    if (p_ == 1) {
      ScaleSigns(x, X.numel(), factor, dx);
    } else {
      ScaleValues(x, X.numel(), 2 * factor, dx);
    }
    return true;
  }

 private:
  const int p_;
  const bool average_;
};

class GetLpNormGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LpNormGradient", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

std::vector<TensorShape> InferLpNorm(const OperatorDef&, const std::vector<TensorShape>&) {
  return {CreateTensorShape(std::vector<int64_t>{1}, TensorProto::FLOAT)};
}

}  // namespace

void RegisterLpNorm() {
  RegisterSchema("LpNorm", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kLpNormP, kLpNormAverage)
      .Input(0, "X", "any shape, float")
      .Output(0, "Z", "the sum, [1]")
      .TensorInferenceFunction(InferLpNorm)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc(
          "Computes the sum of the absolute values (p = 1) or of the squares (p = 2) of all "
          "elements, or with average their mean. No root is taken.");
  RegisterCpuOperator<LpNormOp>("LpNorm", __FILE__);

  RegisterSchema("LpNormGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kLpNormP, kLpNormAverage)
      .Input(0, "X", "input of LpNorm")
      .Input(1, "dout", "gradient of Z, [1]")
      .Output(0, "dx", "gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc("Computes the gradient of LpNorm.");
  RegisterCpuOperator<LpNormGradientOp>("LpNormGradient", __FILE__);
  RegisterGradient<GetLpNormGradient>("LpNorm", __FILE__);
}

}  // namespace caffe2rt
