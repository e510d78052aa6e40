// LayerNormFusion: layer normalization of a sum.
//   X, gamma [N..], beta [N..], optional R  ->  Y, optional S
//   S = X + R (or X), Y = (S - mean) / sqrt(variance + epsilon) * gamma + beta
// Mean and variance are those of each row N.., which begins at `axis` of S. X and R are broadcast
// by numpy's rules. With `single_axis` they are over the dimension `axis` only, and gamma and beta
// belong to the last dimension; nets in which the rank is not known are fused this way. With
// `broadcast_last`, a last dimension of size 1 is broadcast to gamma and beta after the
// normalization, and Y has their size there, but not S. Supports float only.

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/broadcast.h"
#include "operators/common/inference.h"
#include "operators/norm/layer_norm.h"
#include "operators/norm/moments.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kLayerNormFusionSingleAxis{
    "single_axis", false,
    "1: normalize over the dimension `axis` only; gamma and beta have the size of the last one"};

constexpr ArgumentSpec<bool> kLayerNormFusionBroadcastLast{
    "broadcast_last", false,
    "1: rows of one element are broadcast to the size of gamma and beta, as Mul and Add do"};
constexpr ArgumentSpec<int> kLayerNormFusionLeastRank{
    "least_rank", 1, "the lowest rank of the sum that is accepted: 2 in place of LayerNorm"};

// With fewer elements in each thread, a second thread costs more than it saves.
constexpr int64_t kElementsWorthCutting = 8192;

CAFFE2RT_SIMD_FMA void AddRow(const float* x, const float* r, int64_t n, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + r[i];
}

CAFFE2RT_SIMD_FMA void AddNumber(const float* x, float r, int64_t n, float* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + r;
}

// y = (x - mean) * scale * gamma + beta. y may be x.
CAFFE2RT_SIMD_FMA void ScaleRow(const float* x, int64_t n, float mean, float scale,
                                const float* gamma, const float* beta, float* y) {
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Lanes v, g, b;
    math::Load(x + i, v);
    math::Load(gamma + i, g);
    math::Load(beta + i, b);
    v = (v - mean) * scale * g + b;
    math::Store(v, y + i);
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
}

// One run of elements of a broadcast sum.
void AddRun(const BroadcastLoop& loop, const float* a, const float* b, float* y) {
  if (loop.a_stride == 0) return AddNumber(b, *a, loop.size, y);
  if (loop.b_stride == 0) return AddNumber(a, *b, loop.size, y);
  AddRow(a, b, loop.size, y);
}

void AddBroadcast(const BroadcastLoops& loops, const float* a, const float* b, float* y) {
  loops.ForEachBlock([&](int64_t a_offset, int64_t b_offset, int64_t y_offset) {
    for (int64_t j = 0; j < loops.middle.size; ++j) {
      AddRun(loops.inner, a + a_offset + j * loops.middle.a_stride,
             b + b_offset + j * loops.middle.b_stride, y + y_offset + j * loops.inner.size);
    }
  });
}

std::vector<int64_t> SumDims(const std::vector<TensorShape>& in) {
  if (in.size() < 4) return GetDimsVector(in[0]);
  return BroadcastShape(GetDimsVector(in[0]), GetDimsVector(in[3]), {});
}

std::vector<TensorShape> InferLayerNormFusion(const OperatorDef& def,
                                              const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 3) || (in.size() > 3 && !IsKnown(in[3]))) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  std::vector<int64_t> dims = SumDims(in);
  const int axis = canonical_axis_index_(args.Read(kLayerNormAxis), static_cast<int>(dims.size()));
  std::vector<TensorShape> shapes(static_cast<size_t>(def.output_size()),
                                  CreateTensorShape(dims, in[0].data_type()));
  const bool inner = args.Read(kLayerNormFusionSingleAxis);
  if (args.Read(kLayerNormFusionBroadcastLast) &&
      (inner ? dims.back() : size_from_dim_(axis, dims)) == 1) {
    dims.back() = CheckedProduct(GetDimsVector(in[1]));
    shapes[0] = CreateTensorShape(dims, in[0].data_type());
  }
  return shapes;
}

// The rows to normalize: `x`, or the sum of `x` and `r`, which is written to `sum`.
struct LayerRows {
  int64_t rows, n;
  float epsilon;
  const float* x;
  const float* r;  // may be null
  const float* gamma;
  const float* beta;
  float* sum;  // used if `r` is not null; may be y
  float* y;
};

void NormalizeRows(const LayerRows& layer, int64_t first, int64_t last) {
  const int64_t n = layer.n;
  for (int64_t i = first; i < last; ++i) {
    const float* row = layer.x + i * n;
    if (layer.r != nullptr) {
      AddRow(row, layer.r + i * n, n, layer.sum + i * n);
      row = layer.sum + i * n;
    }
    const Moments moments = MomentsOf(row, n);
    const float std = std::sqrt(static_cast<float>(moments.variance()) + layer.epsilon);
    ScaleRow(row, n, static_cast<float>(moments.mean), 1 / std, layer.gamma, layer.beta,
             layer.y + i * n);
  }
}

// Normalizes over a dimension that is not the last one: x is [outer, n, inner]. gamma and beta have
// `last` elements, the size of the last dimension. Not fast, because nets hardly ever do this.
void NormalizeInnerAxis(const LayerRows& layer, int64_t outer, int64_t inner, int64_t last) {
  const int64_t n = layer.n;
  for (int64_t i = 0; i < outer * inner; ++i) {
    const int64_t first = i / inner * n * inner + i % inner;
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) mean += double{layer.x[first + j * inner]};
    mean /= static_cast<double>(n);
    for (int64_t j = 0; j < n; ++j) {
      const double distance = double{layer.x[first + j * inner]} - mean;
      squares += distance * distance;
    }
    const double std = std::sqrt(squares / static_cast<double>(n) + double{layer.epsilon});
    const float gamma = layer.gamma[i % inner % last], beta = layer.beta[i % inner % last];
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = first + j * inner;
      layer.y[at] = static_cast<float>((double{layer.x[at]} - mean) / std) * gamma + beta;
    }
  }
}

// Row i of y is x[i] * gamma + beta.
void SpreadRows(const std::vector<float>& x, int64_t n, const float* gamma, const float* beta,
                float* y) {
  for (const float value : x) {
    for (int64_t j = 0; j < n; ++j) *y++ = value * gamma[j] + beta[j];
  }
}

class LayerNormFusionOp final : public Operator<CPUContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CPUContext);

  LayerNormFusionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kLayerNormAxis)),
        epsilon_(ReadArgument(kLayerNormEpsilon)),
        single_axis_(ReadArgument(kLayerNormFusionSingleAxis)),
        broadcast_last_(ReadArgument(kLayerNormFusionBroadcastLast)),
        least_rank_(ReadArgument(kLayerNormFusionLeastRank)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor* const R = InputSize() > 3 ? &Input(3) : nullptr;
    LayerRows layer = {};
    layer.epsilon = epsilon_;
    layer.x = X.data<float>();
    layer.r = R != nullptr ? R->data<float>() : nullptr;
    const bool same = R == nullptr || R->dims() == X.dims();
    if (!same) plan_.Make(X.sizes(), R->sizes(), {});
    const std::vector<int64_t>& dims = same ? X.dims() : plan_.output_dims();
    const int rank = static_cast<int>(dims.size());
    CAFFE_ENFORCE_GE(rank, least_rank_, "rank of input 0 (X) of shape ", X.sizes());
    const int axis = canonical_axis_index_(axis_, rank);
    const bool inner = single_axis_ && axis != rank - 1;
    layer.rows = size_to_dim_(axis, dims);
    layer.n = inner ? dims[static_cast<size_t>(axis)] : size_from_dim_(axis, dims);
    const int64_t last = inner ? dims.back() : layer.n;
    const int64_t count = CheckedProduct(dims);
    if (OutputSize() > 1) layer.sum = OutputData<float>(1, dims);
    const bool spreads = broadcast_last_ && last == 1 && Input(1).numel() != 1;
    const int64_t n = spreads ? Input(1).numel() : last;
    const float* const gamma = Parameter(1, "gamma", n);
    const float* const beta = Parameter(2, "beta", n);
    if (spreads) {
      y_dims_ = dims;
      y_dims_.back() = n;
    }
    float* const y = OutputData<float>(0, spreads ? y_dims_ : dims);
    if (count == 0) return true;
    if (!spreads) {
      layer.gamma = gamma;
      layer.beta = beta;
      layer.y = y;
      Normalize(layer, count, same, inner ? last : 0);
      return true;
    }
    constexpr float kOne = 1, kZero = 0;
    normal_.resize(static_cast<size_t>(count));
    layer.gamma = &kOne;
    layer.beta = &kZero;
    layer.y = normal_.data();
    Normalize(layer, count, same, inner ? 1 : 0);
    SpreadRows(normal_, n, gamma, beta, y);
    return true;
  }

 private:
  // `layer.sum` is null if the sum is no output; x and r have the `same` shape, or are broadcast by
  // plan_. `last` is the size of the last dimension, if the mean is over another one, or 0.
  void Normalize(LayerRows layer, int64_t count, bool same, int64_t last) const {
    const bool copies = layer.r == nullptr && layer.sum != nullptr;
    if (layer.sum == nullptr) layer.sum = layer.y;
    if (!same) {
      AddBroadcast(plan_.loops(), layer.x, layer.r, layer.sum);
      layer.x = layer.sum;
      layer.r = nullptr;
    } else if (copies) {
      std::copy_n(layer.x, count, layer.sum);
    } else if (layer.r != nullptr && last > 0) {
      AddRow(layer.x, layer.r, count, layer.sum);
      layer.x = layer.sum;
    }
    if (last > 0) {
      NormalizeInnerAxis(layer, layer.rows, count / layer.rows / layer.n, last);
      return;
    }
    const int64_t pieces = std::clamp<int64_t>(count / kElementsWorthCutting, 1,
                                               std::min<int64_t>(GetNumThreads(), layer.rows));
    ParallelFor(static_cast<int>(pieces), [&](int piece) {
      NormalizeRows(layer, layer.rows * piece / pieces, layer.rows * (piece + 1) / pieces);
    });
  }

  const float* Parameter(int i, const char* name, int64_t n) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), n, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want those of the rows of input 0 (X) of shape ",
                     Input(0).sizes(), " from axis ", axis_, " on");
    return tensor.data<float>();
  }

  const int axis_;
  const float epsilon_;
  const bool single_axis_, broadcast_last_;
  const int least_rank_;
  BroadcastPlan plan_;
  // Of rows of one element that are broadcast: the dims of Y, and the rows before that.
  std::vector<int64_t> y_dims_;
  std::vector<float> normal_;
};

}  // namespace

// No gradient: graph passes make this operator from operators that have one.
void RegisterLayerNormFusion() {
  RegisterSchema("LayerNormFusion", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1, 2)
      .Args(kLayerNormAxis, kLayerNormEpsilon, kLayerNormFusionSingleAxis,
            kLayerNormFusionBroadcastLast, kLayerNormFusionLeastRank)
      .Input(0, "X", "[M.., N..], where N.. begins at axis")
      .Input(1, "gamma", "scales, [N..]")
      .Input(2, "beta", "biases, [N..]")
      .Input(3, "R", "(optional) added to X, broadcast by numpy's rules")
      .Output(0, "Y", "the normalized sum")
      .Output(1, "S", "(optional) the sum X + R")
      .TensorInferenceFunction(InferLayerNormFusion)
      .CostInferenceFunction(PointwiseCostInference<7>)
      .SetDoc(
          "Layer normalization of the sum of two tensors: (s - mean) / sqrt(var + epsilon) * gamma "
          "+ beta, where s = X + R, and mean and biased variance are computed over all dimensions "
          "from axis on. Graph passes make this operator from LayerNorm and from its arithmetic in "
          "smaller operators.");
  RegisterCpuOperator<LayerNormFusionOp>("LayerNormFusion", __FILE__);
}

}  // namespace caffe2rt
