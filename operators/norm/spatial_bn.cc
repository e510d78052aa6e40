#include "operators/norm/spatial_bn.h"

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"
#include "operators/primitives/lanes.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void ScaleRow(const float* x, int64_t n, float factor, float term, float* y) {
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Lanes v;
    math::Load(x + i, v);
    v = v * factor + term;
    math::Store(v, y + i);
  }
  // Without the pragma, g++ compares the addresses at run time, and only one of its two loops rounds
  // once: results would depend on where the tensors are.
  CAFFE2RT_SIMD_LOOP
  for (; i < n; ++i) y[i] = x[i] * factor + term;
}

CAFFE2RT_SIMD_FMA void ScaleColumns(const float* x, int64_t rows, int64_t channels,
                                    const float* factor, const float* term, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += channels, y += channels) {
    int64_t c = 0;
    for (; c + math::kLanes <= channels; c += math::kLanes) {
      math::Lanes v, f, t;
      math::Load(x + c, v);
      math::Load(factor + c, f);
      math::Load(term + c, t);
      v = v * f + t;
      math::Store(v, y + c);
    }
    CAFFE2RT_SIMD_LOOP
    for (; c < channels; ++c) y[c] = x[c] * factor[c] + term[c];
  }
}

// y = x * factor[c] + term[c]. x may be y.
void ScaleChannels(const Channels& shape, const float* x, const float* factor, const float* term,
                   float* y) {
  if (shape.last || shape.positions == 1) {
    const int64_t channels = shape.count;
    ParallelRanges(shape.batch * shape.positions, channels, [&](int64_t first, int64_t last) {
      const int64_t at = first * channels;
      ScaleColumns(x + at, last - first, channels, factor, term, y + at);
    });
    return;
  }
  const int64_t plane = shape.positions;
  ParallelRanges(shape.batch * shape.count, plane, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t c = p % shape.count;
      ScaleRow(x + p * plane, plane, factor[c], term[c], y + p * plane);
    }
  });
}

// Computes the moments of each channel over batch and positions. `scratch` must have space for two
// floats for each channel.
void ChannelMoments(const Channels& shape, const float* x, float* scratch, Moments* moments) {
  if (shape.last || shape.positions == 1) {
    ColumnMoments(x, shape.batch * shape.positions, shape.count, scratch, moments);
    return;
  }
  ParallelRanges(shape.count, shape.batch * shape.positions, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      moments[c] = {};
      for (int64_t i = 0; i < shape.batch; ++i) {
        moments[c].Merge(MomentsOf(x + (i * shape.count + c) * shape.positions, shape.positions));
      }
    }
  });
}

// Computes mean and biased variance of each channel over the batch, or from the given sums over
// num_batches batches. Zeros for an empty batch.
void BatchMoments(const Channels& shape, const BatchNormTraining& parameters, const float* x,
                  BatchNormScratch* scratch) {
  const size_t n = static_cast<size_t>(shape.count);
  const double seen = static_cast<double>(shape.batch * shape.positions);
  scratch->moments.resize(n);
  if (parameters.num_batches > 1) {
    const double total = seen * parameters.num_batches;
    for (size_t i = 0; i < n && shape.batch > 0; ++i) {
      const double mean = parameters.sums[i] / total;
      scratch->moments[i] = {1, mean, parameters.sumsq[i] / total - mean * mean};
    }
  } else if (seen == 0) {
    std::fill(scratch->moments.begin(), scratch->moments.end(), Moments{});
  } else {
    scratch->floats.resize(2 * n);
    ChannelMoments(shape, x, scratch->floats.data(), scratch->moments.data());
  }
}

std::vector<TensorShape> InferSpatialBn(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  // As in Caffe2, shape inference treats a def without the argument as training; only the
  // constructor requires the argument.
  const bool is_test = args.HasArgument(kSpatialBnIsTest) && args.Read(kSpatialBnIsTest);
  const int outputs = is_test ? 1 : 5;
  CAFFE_ENFORCE_EQ(def.output_size(), outputs, "outputs: 1 in testing, 5 in training");
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<TensorShape> out{in[0]};
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X), want at least 2");
  const int64_t channels = ReadStorageOrder(args) == StorageOrder::NHWC ? dims.back() : dims[1];
  out.resize(static_cast<size_t>(outputs),
             CreateTensorShape(std::vector<int64_t>{channels}, TensorProto::FLOAT));
  return out;
}

std::vector<TensorShape> InferSpatialBnGradient(const OperatorDef& def,
                                                const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  return {in[0], in[1], in[1]};
}

class GetSpatialBnGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    const bool is_test = args.Read(kSpatialBnIsTest);
    const bool several = !is_test && args.Read(kSpatialBnNumBatches) > 1;
    CAFFE_ENFORCE_EQ(def_.input_size(), several ? 7 : 5, "inputs, want 7 with num_batches above 1 ",
                     "in training, otherwise 5");
    CAFFE_ENFORCE_EQ(def_.output_size(), is_test ? 1 : 5, "outputs: 1 in testing, 5 in training");
    std::vector<std::string> inputs = {I(0), I(1), GO(0), is_test ? I(3) : O(3),
                                       is_test ? I(4) : O(4)};
    // The sums of the gradients over the batches stand in the blobs of the gradients.
    if (several) {
      inputs.push_back(GI(1));
      inputs.push_back(GI(2));
    }
    return SingleGradientDef("SpatialBNGradient", "", inputs,
                             std::vector<std::string>{GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void NormalizeBatch(CPUContext&, const Channels& shape, const BatchNormTest& parameters,
                    const float* x, BatchNormScratch* scratch, float* y) {
  const size_t n = static_cast<size_t>(shape.count);
  scratch->factor.resize(n);
  scratch->term.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const float factor = parameters.scale[i] / std::sqrt(parameters.var[i] + parameters.epsilon);
    scratch->factor[i] = factor;
    scratch->term[i] = parameters.bias[i] - parameters.mean[i] * factor;
  }
  ScaleChannels(shape, x, scratch->factor.data(), scratch->term.data(), y);
}

void NormalizeBatch(CPUContext&, const Channels& shape, const BatchNormTraining& parameters,
                    const float* x, BatchNormScratch* scratch, float* y) {
  const size_t n = static_cast<size_t>(shape.count);
  const auto& [epsilon, momentum, num_batches, scale, bias, sums, sumsq, running_mean, running_var,
               keep_mean, keep_var, saved_mean, saved_scale] = parameters;
  BatchMoments(shape, parameters, x, scratch);
  if (!keep_mean) std::fill_n(running_mean, n, 0.0f);
  if (!keep_var) std::fill_n(running_var, n, 0.0f);
  if (shape.batch == 0) {
    std::fill_n(saved_mean, n, 0.0f);
    std::fill_n(saved_scale, n, 0.0f);
    return;
  }
  scratch->factor.resize(n);
  scratch->term.resize(n);
  const float size =
      static_cast<float>(static_cast<double>(shape.batch * shape.positions) * num_batches);
  const float unbiased = size / (size - 1);
  for (size_t i = 0; i < n; ++i) {
    const float mean = static_cast<float>(scratch->moments[i].mean);
    const float var = static_cast<float>(scratch->moments[i].variance());
    running_mean[i] = momentum * running_mean[i] + (1 - momentum) * mean;
    running_var[i] = momentum * running_var[i] + (1 - momentum) * (var * unbiased);
    saved_mean[i] = mean;
    saved_scale[i] = 1 / std::sqrt(var + epsilon);
    scratch->factor[i] = scale[i] * saved_scale[i];
    scratch->term[i] = bias[i] - mean * scratch->factor[i];
  }
  if (shape.positions == 0) return;
  ScaleChannels(shape, x, scratch->factor.data(), scratch->term.data(), y);
}

void RegisterSpatialBn() {
  RegisterSchema("SpatialBN", __FILE__)
      .NumInputs({5, 7})
      .NumOutputs({1, 5})
      .AllowInplace({{0, 0}, {5, 3}, {6, 4}})
      .EnforceInplace({{3, 1}, {4, 2}})
      .DeviceInferenceFunction(OnednnWeightsOnCpu({1, 2, 3, 4}))
      .Args(kSpatialBnIsTest, kSpatialBnEpsilon, kSpatialBnMomentum, kSpatialBnNumBatches,
            kStorageOrder)
      .Input(0, "X", "[N, C, *] or [N, *, C]")
      .Input(1, "scale", "scale of each channel, [C]")
      .Input(2, "bias", "bias of each channel, [C]")
      .Input(3, "mean", "running mean, [C]; used if is_test")
      .Input(4, "var", "running variance, [C]; used if is_test")
      .Input(5, "sums", "optional sums of x over num_batches batches, [C]")
      .Input(6, "sumsq", "optional sums of x^2 over num_batches batches, [C]")
      .Output(0, "Y", "the shape of X")
      .Output(1, "mean", "running mean, [C], in place of input 3; only in training")
      .Output(2, "var", "running unbiased variance, [C], in place of input 4; only in training")
      .Output(3, "saved_mean", "mean of the batch, [C]; only in training")
      .Output(4, "saved_var", "1 / sqrt(variance of the batch + epsilon), [C]; only in training")
      .TensorInferenceFunction(InferSpatialBn)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .InheritOnnxSchema("BatchNormalization")
      .FloatInputs(3)
      .Traits({.family = OperatorFamily::kNorm,
               .same_shape = true,
               .writes_float = true,
               .affine = AffineForm::kBatchNorm,
               .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kTestMode}})
      .SetDoc(
          "Batch normalization of each channel: (X - mean) / sqrt(var + epsilon) * scale + bias. "
          "If is_test, mean and variance are the inputs; in training they are computed from the "
          "batch, and the running values are updated.");
  RegisterCpuOperator<SpatialBNOp<CPUContext>>("SpatialBN", __FILE__);

  RegisterSchema("SpatialBNGradient", __FILE__)
      .NumInputs({5, 7})
      .NumOutputs(3)
      .AllowInplace({{5, 1}, {6, 2}})
      .Args(kSpatialBnGradientIsTest, kSpatialBnEpsilon, kSpatialBnMomentum, kSpatialBnNumBatches,
            kStorageOrder)
      .Input(0, "X", "[N, C, *] or [N, *, C], of rank 3 or more")
      .Input(1, "scale", "scale of each channel, [C]")
      .Input(2, "dY", "gradient of Y")
      .Input(3, "mean", "mean of the batch, [C]; with is_test the mean that was used")
      .Input(4, "inv",
             "1 / sqrt(variance of the batch + epsilon), [C]; with is_test the variance that was "
             "used")
      .Input(5, "dscale_sum", "optional sums of dscale over num_batches batches, [C]")
      .Input(6, "dbias_sum", "optional sums of dbias over num_batches batches, [C]")
      .Output(0, "dX", "gradient of X")
      .Output(1, "dscale", "gradient of scale, divided by num_batches")
      .Output(2, "dbias", "gradient of bias, divided by num_batches")
      .TensorInferenceFunction(InferSpatialBnGradient)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .SetDoc(
          "Computes the gradients of SpatialBN. With is_test, mean and variance are constants.");
  RegisterCpuOperator<SpatialBNGradientOp<CPUContext>>("SpatialBNGradient", __FILE__);
  RegisterGradient<GetSpatialBnGradient>("SpatialBN", __FILE__);
}

}  // namespace caffe2rt
