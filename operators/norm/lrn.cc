#include "operators/norm/lrn.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr int64_t kPositions = 512;  // positions that are processed together
// The cost of one channel of a position, in the steps of ParallelRanges.
constexpr int64_t kStepsOfChannel = 8;

CAFFE2RT_SIMD_FMA void SetTo(float value, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = value;
}
CAFFE2RT_SIMD_FMA void AddSquares(const float* x, float factor, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * (x[i] * x[i]);
}
CAFFE2RT_SIMD_FMA void AddScaled(const float* x, float factor, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}
CAFFE2RT_SIMD_FMA void Square(const float* x, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * x[i];
}

CAFFE2RT_SIMD_FMA void Ratio(const float* dy, const float* y, const float* scale, int64_t n,
                             float* ratio) {
  for (int64_t i = 0; i < n; ++i) ratio[i] = dy[i] * y[i] / scale[i];
}
CAFFE2RT_SIMD_FMA void SubtractProduct(const float* x, const float* sum, float factor, int64_t n,
                                       float* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] -= factor * x[i] * sum[i];
}

// y = x * scale^-beta. For the exponents that are common in nets, square roots suffice.
CAFFE2RT_SIMD_FMA void TimesThreeQuarters(const float* x, const float* scale, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) {
    const float root = __builtin_sqrtf(scale[i]);
    y[i] = x[i] / (root * __builtin_sqrtf(root));
  }
}
CAFFE2RT_SIMD_FMA void TimesHalf(const float* x, const float* scale, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / __builtin_sqrtf(scale[i]);
}
void TimesPower(const float* x, const float* scale, float beta, int64_t n, float* y) {
  if (beta == 0.75f) {
    TimesThreeQuarters(x, scale, n, y);
  } else if (beta == 0.5f) {
    TimesHalf(x, scale, n, y);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * std::pow(scale[i], -beta);
  }
}

// Sets sum to the scale at `n` positions of channel c; x is at the first of them, in channel 0.
void SumSquares(const Channels& shape, const LRNWindow& window, int64_t c, const float* x,
                int64_t n, float* sum) {
  SetTo(window.bias, n, sum);
  const int64_t first = std::max<int64_t>(c - window.before, 0);
  const int64_t last = std::min(c + window.after, shape.count - 1);
  for (int64_t j = first; j <= last; ++j) {
    AddSquares(x + j * shape.positions, window.alpha, n, sum);
  }
}

// Normalizes positions [first, last) of an image in NCHW, kPositions at a time: for each
// channel, adds up the squares of the channels in its window.
void NormalizePlanes(const Channels& shape, const LRNWindow& window, int64_t first, int64_t last,
                     const float* x, float* y, float* scale) {
  float own_scale[kPositions];
  for (int64_t start = first; start < last; start += kPositions) {
    const int64_t n = std::min(kPositions, last - start);
    for (int64_t c = 0; c < shape.count; ++c) {
      const int64_t at = c * shape.positions + start;
      float* const sum = scale != nullptr ? scale + at : own_scale;
      SumSquares(shape, window, c, x + start, n, sum);
      TimesPower(x + at, sum, window.beta, n, y + at);
    }
  }
}

// Sets scale at one position in NHWC. The squares are stored with a margin of zeros on both sides;
// the sum over the window adds shifted copies of them. `squares` has space for the channels and both
// margins, and its margins are zero.
void ScaleOfPosition(const Channels& shape, const LRNWindow& window, const float* x, float* squares,
                     float* scale) {
  const int64_t before = std::min(window.before, shape.count);
  const int64_t after = std::min(window.after, shape.count);
  Square(x, shape.count, squares + before);
  SetTo(window.bias, shape.count, scale);
  // With size 0, alpha is NaN or infinite. The running sum of Caffe2 includes it from the second
  // channel on.
  if (after < 0) SetTo(window.alpha * 0, shape.count - 1, scale + 1);
  for (int64_t j = 0; j <= before + after; ++j) {
    AddScaled(squares + j, window.alpha, shape.count, scale);
  }
}

// Normalizes one position in NHWC. `squares` as in ScaleOfPosition.
void NormalizePosition(const Channels& shape, const LRNWindow& window, const float* x,
                       float* squares, float* y, float* scale) {
  ScaleOfPosition(shape, window, x, squares, scale);
  TimesPower(x, scale, window.beta, shape.count, y);
}

// The gradient of one position in NHWC. `squares` and `scale` as above.
void GradientOfPosition(const Channels& shape, const LRNWindow& window, const float* x,
                        const float* y, const float* dy, float* squares, float* scale, float* dx) {
  const int64_t before = std::min(window.before, shape.count);
  const int64_t after = std::min(window.after, shape.count);
  ScaleOfPosition(shape, window, x, squares, scale);
  TimesPower(dy, scale, window.beta, shape.count, dx);
  Ratio(dy, y, scale, shape.count, squares + before);
  SetTo(0, shape.count, scale);
  for (int64_t j = 0; j <= before + after; ++j) AddScaled(squares + j, 1, shape.count, scale);
  SubtractProduct(x, scale, 2 * window.alpha * window.beta, shape.count, dx);
}

// The gradient of one image in NCHW. `scratch` has space for kPositions floats for each channel.
void GradientOfPlanes(const Channels& shape, const LRNWindow& window, const float* x,
                      const float* y, const float* dy, float* scratch, float* dx) {
  float sum[kPositions];
  for (int64_t start = 0; start < shape.positions; start += kPositions) {
    const int64_t n = std::min(kPositions, shape.positions - start);
    for (int64_t c = 0; c < shape.count; ++c) {
      const int64_t at = c * shape.positions + start;
      SumSquares(shape, window, c, x + start, n, sum);
      TimesPower(dy + at, sum, window.beta, n, dx + at);
      Ratio(dy + at, y + at, sum, n, scratch + c * kPositions);
    }
    for (int64_t c = 0; c < shape.count; ++c) {
      const int64_t at = c * shape.positions + start;
      const int64_t first = std::max<int64_t>(c - window.after, 0);
      const int64_t last = std::min(c + window.before, shape.count - 1);
      SetTo(0, n, sum);
      for (int64_t j = first; j <= last; ++j) AddScaled(scratch + j * kPositions, 1, n, sum);
      SubtractProduct(x + at, sum, 2 * window.alpha * window.beta, n, dx + at);
    }
  }
}

std::vector<TensorShape> InferLrn(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  return std::vector<TensorShape>(static_cast<size_t>(def.output_size()), in[0]);
}

class GetLrnGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LRNGradient", "", std::vector<std::string>{I(0), O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void NormalizeLocally(CPUContext&, const Channels& shape, const LRNWindow& window, const float* x,
                      std::vector<float>* scratch, float* y, float* scale) {
  const int64_t image = shape.count * shape.positions;
  if (!shape.last) {
    for (int64_t at = 0; at < shape.batch * image; at += image) {
      ParallelElements(shape.positions, kStepsOfChannel * shape.count,
                       [&](int64_t first, int64_t last) {
                         NormalizePlanes(shape, window, first, last, x + at, y + at,
                                         scale != nullptr ? scale + at : nullptr);
                       });
    }
    return;
  }
  // The margins and squares need at most 3 * count + 1 floats. The scale follows, for an operator
  // without output 1.
  scratch->assign(static_cast<size_t>(4 * shape.count + 1), 0.0f);
  float* const own_scale = scratch->data() + 3 * shape.count + 1;
  for (int64_t i = 0; i < shape.batch * shape.positions; ++i) {
    NormalizePosition(shape, window, x + i * shape.count, scratch->data(), y + i * shape.count,
                      scale != nullptr ? scale + i * shape.count : own_scale);
  }
}

int64_t LocalGradientScratch(const CPUContext&, const Channels& shape) {
  // In NHWC, as in NormalizeLocally.
  return shape.last ? 4 * shape.count + 1 : kPositions * shape.count;
}

void GradientOfLocal(CPUContext&, const Channels& shape, const LRNWindow& window, const float* x,
                     const float* y, const float* dy, float* scratch, float* dx) {
  const int64_t image = shape.count * shape.positions;
  if (!shape.last) {
    for (int64_t at = 0; at < shape.batch * image; at += image) {
      GradientOfPlanes(shape, window, x + at, y + at, dy + at, scratch, dx + at);
    }
    return;
  }
  std::fill_n(scratch, 3 * shape.count + 1, 0.0f);
  float* const scale = scratch + 3 * shape.count + 1;
  for (int64_t at = 0; at < shape.batch * image; at += shape.count) {
    GradientOfPosition(shape, window, x + at, y + at, dy + at, scratch, scale, dx + at);
  }
}

void RegisterLrn() {
  RegisterSchema("LRN", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, 2)
      .Args(kLrnSize, kLrnAlpha, kLrnBeta, kLrnBias, kStorageOrder)
      .Input(0, "X", "[N, C, H, W] or [N, H, W, C]")
      .Output(0, "Y", "the shape of X")
      .Output(
          1, "Y_scale",
          "optional, the shape of X: the base of the power, bias + alpha / size * sum of squares")
      .TensorInferenceFunction(InferLrn)
      .CostInferenceFunction(PointwiseCostInference<12>)
      .InheritOnnxSchema("LRN")
      .FloatInputs(1)
      .Traits({.family = OperatorFamily::kNorm,
               .same_shape = true,
               .writes_float = true,
               .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kNchw}})
      .SetDoc(
          "Local response normalization: X / (bias + alpha / size * sum of squares)^beta, where "
          "the sum is over a window of size neighbouring channels.");
  RegisterCpuOperator<LRNOp<CPUContext>>("LRN", __FILE__);

  RegisterSchema("LRNGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kLrnSize, kLrnAlpha, kLrnBeta, kLrnBias, kStorageOrder)
      .Input(0, "X", "input of LRN")
      .Input(1, "Y", "output of LRN")
      .Input(2, "dY", "gradient of Y")
      .Output(0, "dX", "gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<24>)
      .SetDoc(
          "Computes the gradient of LRN. In order NHWC with an even size, the window is not "
          "mirrored, as in Caffe2, so the result differs from the gradient.");
  RegisterCpuOperator<LRNGradientOp<CPUContext>>("LRNGradient", __FILE__);
  RegisterGradient<GetLrnGradient>("LRN", __FILE__);
}

}  // namespace caffe2rt
