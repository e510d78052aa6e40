// Normalize, NormalizeGradient, NormalizeL1.

#include "operators/norm/normalize.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

constexpr int64_t kTile = 64;  // runs of stride above 1 that are processed together

// The sum of |x|, of x^2, or of x * dy, over a contiguous run.
enum class RunSum { kAbsolute, kSquares, kProducts };

CAFFE2RT_SIMD_FMA float SumRun(RunSum kind, const float* x, const float* dy, int64_t n) {
  math::Lanes v, w, sum = {};
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Load(x + i, v);
    if (kind == RunSum::kAbsolute) {
      sum += v < 0 ? -v : v;
    } else {
      math::Load(dy + i, w);
      sum += v * w;
    }
  }
  float rest = 0;
  for (; i < n; ++i) rest += kind == RunSum::kAbsolute ? std::fabs(x[i]) : x[i] * dy[i];
  return math::Sum(sum) + rest;
}

// Adds an element of each of `n` adjacent runs to sum. x may be dy.
CAFFE2RT_SIMD_FMA void AddToRunSums(RunSum kind, const float* x, const float* dy, int64_t n,
                                    float* sum) {
  if (kind == RunSum::kAbsolute) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) sum[i] += std::fabs(x[i]);
  } else {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) sum[i] += x[i] * dy[i];
  }
}

CAFFE2RT_SIMD_FMA void Divide(const float* x, int64_t n, const float* divisor, int64_t step,
                              float* y) {
  if (step == 0) {
    const float by = *divisor;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] / by;
  } else {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] / divisor[i];
  }
}

// dx = dy * factor - x * slope, with one factor and slope for all (step 0) or for each element.
CAFFE2RT_SIMD_FMA void SubtractSlope(const float* x, const float* dy, int64_t n,
                                     const float* factor, const float* slope, int64_t step,
                                     float* dx) {
  if (step == 0) {
    const float f = *factor, s = *slope;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * f - x[i] * s;
  } else {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * factor[i] - x[i] * slope[i];
  }
}

// Sets sum to the sums over `count` adjacent runs, of which the first begins at x.
void SumRuns(RunSum kind, const AxisRuns& runs, const float* x, const float* dy, int64_t count,
             float* sum) {
  if (runs.inner == 1) {
    *sum = SumRun(kind, x, dy, runs.size);
    return;
  }
  std::fill_n(sum, count, 0.0f);
  for (int64_t i = 0; i < runs.size; ++i) {
    AddToRunSums(kind, x + i * runs.inner, dy + i * runs.inner, count, sum);
  }
}

// Calls visit(offset, count) for each group of at most kTile adjacent runs.
template <class Visit>
void ForEachRunGroup(const AxisRuns& runs, const Visit& visit) {
  for (int64_t o = 0; o < runs.outer; ++o) {
    for (int64_t j = 0; j < runs.inner; j += kTile) {
      visit(o * runs.size * runs.inner + j, std::min(kTile, runs.inner - j));
    }
  }
}

class GetNormalizeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("NormalizeGradient", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void NormalizeRuns(CPUContext&, const AxisRuns& runs, Norm norm, const float* x, float* y) {
  const bool contiguous = runs.inner == 1;
  ForEachRunGroup(runs, [&](int64_t at, int64_t count) {
    float divisor[kTile];
    SumRuns(norm == Norm::kL1 ? RunSum::kAbsolute : RunSum::kSquares, runs, x + at, x + at, count,
            divisor);
    for (int64_t j = 0; j < count; ++j) {
      if (norm == Norm::kL2) {
        divisor[j] = std::max(std::sqrt(divisor[j]), kLeastNorm);
      } else if (divisor[j] == 0) {
        divisor[j] = 1;
      }
    }
    if (contiguous) return Divide(x + at, runs.size, divisor, 0, y + at);
    for (int64_t i = 0; i < runs.size; ++i) {
      Divide(x + at + i * runs.inner, count, divisor, 1, y + at + i * runs.inner);
    }
  });
}

void NormalizeRunsGradient(CPUContext&, const AxisRuns& runs, const float* x, const float* dy,
                           float* dx) {
  const bool contiguous = runs.inner == 1;
  ForEachRunGroup(runs, [&](int64_t at, int64_t count) {
    float factor[kTile], slope[kTile];
    SumRuns(RunSum::kSquares, runs, x + at, x + at, count, factor);
    SumRuns(RunSum::kProducts, runs, x + at, dy + at, count, slope);
    for (int64_t j = 0; j < count; ++j) {
      const double norm = std::max(std::sqrt(factor[j]), kLeastNorm);
      factor[j] = static_cast<float>(1 / norm);
      slope[j] = static_cast<float>(slope[j] / (norm * norm * norm));
    }
    if (contiguous) return SubtractSlope(x + at, dy + at, runs.size, factor, slope, 0, dx + at);
    for (int64_t i = 0; i < runs.size; ++i) {
      const int64_t row = at + i * runs.inner;
      SubtractSlope(x + row, dy + row, count, factor, slope, 1, dx + row);
    }
  });
}

void RegisterNormalize() {
  RegisterSchema("Normalize", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kNormalizeAxis)
      .Input(0, "X", "any shape, float")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShape()
      .CostInferenceFunction(PointwiseCostInference<3>)
      .SetDoc("Divides each run of elements along axis by its L2 norm, at least 1e-12.");
  RegisterCpuOperator<NormalizeOp<CPUContext, Norm::kL2>>("Normalize", __FILE__);

  RegisterSchema("NormalizeGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kNormalizeAxis)
      .Input(0, "X", "input of Normalize")
      .Input(1, "dY", "gradient of Y")
      .Output(0, "dX", "gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<7>)
      .SetDoc("Computes the gradient of Normalize.");
  RegisterCpuOperator<NormalizeGradientOp<CPUContext>>("NormalizeGradient", __FILE__);
  RegisterGradient<GetNormalizeGradient>("Normalize", __FILE__);

  RegisterSchema("NormalizeL1", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kNormalizeAxis)
      .Input(0, "X", "any shape, float")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShape()
      .CostInferenceFunction(PointwiseCostInference<3>)
      .SetDoc(
          "Divides each run of elements along axis by the sum of their absolute values. A run of "
          "zeros stays as it is.");
  RegisterCpuOperator<NormalizeOp<CPUContext, Norm::kL1>>("NormalizeL1", __FILE__);
  // Caffe2 registers no gradient for NormalizeL1 either.
  RegisterGradient<GradientNotImplementedYet>("NormalizeL1", __FILE__);
}

}  // namespace caffe2rt
