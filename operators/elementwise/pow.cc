#include "operators/elementwise/pow.h"

#include <cmath>
#include <limits>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/elementwise/map.h"
#include "operators/elementwise/register.h"

namespace caffe2rt {

namespace {

struct Square {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x * x; }
};

struct ThirdPower {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x * x * x; }
};

struct Inverse {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return 1.0f / x; }
};

// Unlike std::sqrt the power 1/2 of -infinity is infinity, and that of -0 is 0.
struct SquareRoot {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float root = std::sqrt(x) + 0.0f;
    return x == -kInfinity ? kInfinity : root;
  }
};

struct AnyPower {
  float exponent;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::pow(x, exponent); }
};

struct PowerFunction {
  CAFFE2RT_SIMD_INLINE float operator()(float a, float b) const { return std::pow(a, b); }
};

}  // namespace

void PowerOf(CPUContext& context, int64_t n, const float* x, float exponent, float* y) {
  if (exponent == 2.0f) return Map(context, n, x, y, Square{});
  if (exponent == 0.5f) return Map(context, n, x, y, SquareRoot{});
  if (exponent == -1.0f) return Map(context, n, x, y, Inverse{});
  if (exponent == 3.0f) return Map(context, n, x, y, ThirdPower{});
  Map(context, n, x, y, AnyPower{exponent});
}

void PowersOf(CPUContext& context, int64_t n, const float* a, const float* b, float* y) {
  Zip(context, n, a, b, y, PowerFunction{});
}

void PowersOf(CPUContext& context, const BroadcastPlan& plan, const float* a, const float* b,
              float* y) {
  ZipBroadcast(context, plan, a, b, y, PowerFunction{});
}

void RegisterPow() {
  OpSchema& schema = RegisterSchema("Pow", __FILE__);
  schema.NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}, {1, 0}})
      .Arg("exponent", "the exponent when there is one input", 0)
      .Input(0, "A", "any shape, float")
      .Input(1, "B", "the exponents: the shape of A, or one that fits into it")
      .Output(0, "Y", "the shape of A")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc("Y = A ^ exponent, or A ^ B for two inputs.");
  DeclareBroadcastArguments(schema);
  RegisterCpuOperator<PowOp<CPUContext>>("Pow", __FILE__);
}

}  // namespace caffe2rt
