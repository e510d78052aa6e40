// Layers that normalize, and those that scale and shift by channel.

#include <algorithm>
#include <limits>

#include "caffe2_core/base/text.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

CaffeDims Range(int64_t begin, int64_t end) {
  CaffeDims axes;
  for (int64_t axis = begin; axis < end; ++axis) axes.push_back(axis);
  return axes;
}

// A reduction that keeps the axes.
std::string Mean(CaffeLayerContext* c, const std::string& x, const CaffeDims& axes) {
  return c->Value("ReduceMean", {x}, {MakeArgument("axes", axes)});
}

// --- LRN ---

void TranslateLrn(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("lrn_param");
  const int64_t size = param.Integer("local_size", 5);
  const float alpha = param.Float("alpha", 1), beta = param.Float("beta", 0.75f);
  CAFFE_ENFORCE(size > 0 && size % 2 == 1, "local_size is ", size, ", want an odd number");
  const std::string& x = c->Bottom(0);
  if (param.Enum("norm_region", {"ACROSS_CHANNELS", "WITHIN_CHANNEL"}, 0) == 0) {
    return c->Emit("LRN", {x}, {c->Top(0)},
                   {MakeArgument("size", size), MakeArgument("alpha", alpha),
                    MakeArgument("beta", beta), MakeArgument("bias", param.Float("k", 1))});
  }
  // x * (1 + alpha * mean of the squares in the window)^-beta; k has no effect here.
  const std::string mean = c->Value(
      "AveragePool", {c->Value("Sqr", {x})},
      {MakeArgument("kernels", CaffeDims{size, size}), MakeArgument("strides", CaffeDims{1, 1}),
       MakeArgument("pads", CaffeDims(4, (size - 1) / 2)), MakeArgument("count_include_pad", 1)});
  const std::string scaled = c->Value("Scale", {mean}, {MakeArgument("scale", alpha)});
  const std::string base = c->Value("Add", {scaled, c->Constant("one", 1)});
  c->Emit("Mul", {x, c->Value("Pow", {base}, {MakeArgument("exponent", -beta)})}, {c->Top(0)});
}

// --- batch normalization ---

// The statistics and factors of each channel.
struct ChannelStatistics {
  std::vector<float> mean, var, scale, bias;
};

void EmitSpatialBN(CaffeLayerContext* c, const ChannelStatistics& channels, float epsilon) {
  const CaffeDims dims = {static_cast<int64_t>(channels.mean.size())};
  c->Emit("SpatialBN",
          {c->Bottom(0), c->Constant("scale", dims, channels.scale),
           c->Constant("bias", dims, channels.bias), c->Constant("mean", dims, channels.mean),
           c->Constant("var", dims, channels.var)},
          {c->Top(0)},
          // The operator wants more than 0, which some files have.
          {MakeArgument("is_test", 1),
           MakeArgument("epsilon", std::max(epsilon, std::numeric_limits<float>::min()))});
}

int64_t NormalizedChannels(const CaffeLayerContext& c) {
  if (!c.HasDims(c.Bottom(0))) return c.BlobSize(0);
  const CaffeDims dims = c.Dims(c.Bottom(0));
  return dims.size() < 2 ? 1 : dims[1];
}

// By the statistics of the batch, as in training.
void NormalizeBatch(CaffeLayerContext* c, float epsilon) {
  c->IgnoreBlobs();
  const std::string& x = c->Bottom(0);
  CaffeDims axes = Range(2, c->Rank(x));
  axes.insert(axes.begin(), 0);
  const std::string centred = c->Value("Sub", {x, Mean(c, x, axes)});
  const std::string var = Mean(c, c->Value("Sqr", {centred}), axes);
  const std::string shifted = c->Value("Add", {var, c->Constant("eps", epsilon)});
  c->Emit("Div", {centred, c->Value("Sqrt", {shifted})}, {c->Top(0)});
}

// Blobs: sums of means and variances, and the factor by which they are divided, where 0 means that
// both are 0. NVIDIA's branch adds scale and bias.
void TranslateBatchNorm(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("batch_norm_param");
  const float epsilon = param.Float("eps", 1e-5f);
  if (!param.Bool("use_global_stats", true)) return NormalizeBatch(c, epsilon);
  const bool merged = param.Bool("scale_bias", false);
  const size_t blobs = c->Blobs(merged ? 5 : 3);
  CAFFE_ENFORCE(blobs == 3 || blobs == 5, "it has ", CountText(blobs, "blob"),
                ", want 3 (mean, variance, factor) or 5 (and scale, bias)");
  const int64_t count = NormalizedChannels(*c);
  const auto size = static_cast<size_t>(count);
  ChannelStatistics channels = {.mean = c->Values(0, count, 0),
                                .var = c->Values(1, count, 1),
                                .scale = std::vector<float>(size, 1),
                                .bias = std::vector<float>(size, 0)};
  const float factor = c->Values(2, 1, 1)[0];
  const float multiplier = factor == 0 ? 0 : 1 / factor;
  for (float& value : channels.mean) value *= multiplier;
  for (float& value : channels.var) value *= multiplier;
  if (blobs == 5) {
    channels.scale = c->Values(3, count, 1);
    channels.bias = c->Values(4, count, 0);
  }
  EmitSpatialBN(c, channels, epsilon);
}

// SegNet and ENet for inference: two blobs, scale and bias. PSPNet: four, with mean and variance
// behind them.
void TranslateBN(CaffeLayerContext* c) {
  const size_t blobs = c->Blobs(4);
  CAFFE_ENFORCE(blobs == 2 || blobs == 4, "it has ", CountText(blobs, "blob"),
                ", want 2 (scale, bias) or 4 (and mean, variance)");
  const int64_t count = NormalizedChannels(*c);
  if (blobs == 4) {
    return EmitSpatialBN(c,
                         {.mean = c->Values(2, count, 0),
                          .var = c->Values(3, count, 1),
                          .scale = c->Values(0, count, 1),
                          .bias = c->Values(1, count, 0)},
                         c->Param("bn_param").Float("eps", 1e-5f));
  }
  const std::vector<Argument> by_channel = {MakeArgument("broadcast", 1), MakeArgument("axis", 1)};
  const std::string scaled = c->Value(
      "Mul", {c->Bottom(0), c->Parameter(0, "scale", {count}, CaffeMessage())}, by_channel);
  c->Emit("Add", {scaled, c->Parameter(1, "bias", {count}, CaffeMessage())}, {c->Top(0)},
          by_channel);
}

// Forks with one layer for both: 4 blobs as in PSPNet, 5 as in NVIDIA's branch.
void TranslateMergedBatchNorm(CaffeLayerContext* c) {
  c->Blobs(5) == 4 ? TranslateBN(c) : TranslateBatchNorm(c);
}

// --- MVN and Normalize ---

void TranslateMvn(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("mvn_param");
  const std::string& x = c->Bottom(0);
  const int64_t rank = c->HasDims(x) ? c->Rank(x) : 4;
  const CaffeDims axes = Range(param.Bool("across_channels", false) ? 1 : 2, rank);
  if (axes.empty()) return c->Emit("Sub", {x, x}, {c->Top(0)});  // each element is its own mean
  const std::string mean = Mean(c, x, axes);
  if (!param.Bool("normalize_variance", true)) return c->Emit("Sub", {x, mean}, {c->Top(0)});
  const std::string centred = c->Value("Sub", {x, mean});
  const std::string deviation = c->Value("Sqrt", {Mean(c, c->Value("Sqr", {centred}), axes)});
  // Unlike in other normalizations, eps is added to the root.
  const std::string divisor =
      c->Value("Add", {deviation, c->Constant("eps", param.Float("eps", 1e-9f))});
  c->Emit("Div", {centred, divisor}, {c->Top(0)});
}

// x / sqrt(sum of squares + eps), times a scale for all channels or for each. Some forks have no
// scale.
void EmitNormalize(CaffeLayerContext* c, bool across_spatial, float epsilon) {
  const std::string& x = c->Bottom(0);
  const int64_t rank = c->HasDims(x) ? c->Rank(x) : 4;
  const std::string sum = c->Value("ReduceSum", {c->Value("Sqr", {x})},
                                   {MakeArgument("axes", Range(1, across_spatial ? rank : 2))});
  const std::string norm = c->Value("Sqrt", {c->Value("Add", {sum, c->Constant("eps", epsilon)})});
  if (c->Blobs(1) == 0) return c->Emit("Div", {x, norm}, {c->Top(0)});
  const int64_t count = c->has_weights() ? c->BlobSize(0) : 1;
  CaffeMessage one;
  one.Set("value", "1");
  const CaffeMessage& filler = c->Param("norm_param").Message("scale_filler");
  const std::string scale = c->Parameter(0, "scale", {count}, filler.Has("value") ? filler : one);
  std::vector<Argument> by_channel;
  if (count > 1) by_channel = {MakeArgument("broadcast", 1), MakeArgument("axis", 1)};
  c->Emit("Mul", {c->Value("Div", {x, norm}), scale}, {c->Top(0)}, by_channel);
}

void TranslateNormalize(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("norm_param");
  EmitNormalize(c, param.Bool("across_spatial", true), param.Float("eps", 1e-10f));
}

void TranslateL2Norm(CaffeLayerContext* c) { EmitNormalize(c, false, 1e-10f); }

// --- Scale and Bias ---

// The dims that a factor or a summand covers: axes of the bottom from `axis` on.
CaffeDims CoveredDims(const CaffeLayerContext& c, const CaffeMessage& param, int64_t axis) {
  const int64_t axes = param.Integer("num_axes", 1);
  if (axes == 0) return {1};
  if (!c.HasDims(c.Bottom(0))) return c.BlobDims(0);
  const CaffeDims dims = c.Dims(c.Bottom(0));
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t end = axes < 0 || axes > rank ? rank : axis + axes;
  CAFFE_ENFORCE(axes <= rank && end <= rank, "axis ", axis, " and num_axes ", axes,
                " go beyond its bottom, which has ", rank, " axes");
  return {dims.begin() + axis, dims.begin() + end};
}

// The arguments that let the second input of Mul and Add cover axes from `axis` on.
std::vector<Argument> Covering(const CaffeLayerContext& c, const std::string& factor,
                               int64_t axis) {
  if (c.HasDims(factor) && c.Dims(factor) == CaffeDims{1}) return {};
  if (c.HasDims(factor) && c.Dims(factor).empty()) return {};
  return {MakeArgument("broadcast", 1), MakeArgument("axis", axis)};
}

void TranslateScale(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("scale_param");
  const int64_t axis = c->Axis(c->Bottom(0), param.Integer("axis", 1));
  const bool two = c->bottoms() > 1;
  std::string factor;
  CaffeDims dims;
  if (two) {
    factor = c->Bottom(1);
    if (c->HasDims(factor)) dims = c->Dims(factor);
  } else {
    dims = CoveredDims(*c, param, axis);
    CaffeMessage filler = param.Message("filler").Copy();
    if (!filler.Has("value")) filler.Set("value", "1");
    factor = c->Parameter(0, "scale", dims, filler);
  }
  const std::vector<Argument> args = Covering(*c, factor, axis);
  const std::vector<std::string> inputs = {c->Bottom(0), factor};
  if (!param.Bool("bias_term", false)) return c->Emit("Mul", inputs, {c->Top(0)}, args);
  const std::string bias = c->Parameter(two ? 0 : 1, "bias", dims.empty() ? CaffeDims{1} : dims,
                                        param.Message("bias_filler"));
  c->Emit("Add", {c->Value("Mul", inputs, args), bias}, {c->Top(0)}, Covering(*c, bias, axis));
}

void TranslateBias(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("bias_param");
  const int64_t axis = c->Axis(c->Bottom(0), param.Integer("axis", 1));
  const std::string bias = c->bottoms() > 1 ? c->Bottom(1)
                                            : c->Parameter(0, "bias", CoveredDims(*c, param, axis),
                                                           param.Message("filler"));
  c->Emit("Add", {c->Bottom(0), bias}, {c->Top(0)}, Covering(*c, bias, axis));
}

}  // namespace

std::vector<CaffeLayerRow> CaffeNormalizationLayers() {
  using enum CaffeLayerKind;
  return {
      {"BN", kTranslated, TranslateBN},
      {"BatchNorm", kTranslated, TranslateBatchNorm},
      {"BatchNormScale", kTranslated, TranslateMergedBatchNorm},
      {"Bias", kTranslated, TranslateBias},
      {"CuDNNBatchNorm", kTranslated, TranslateMergedBatchNorm},
      {"L2Norm", kTranslated, TranslateL2Norm},
      {"LRN", kTranslated, TranslateLrn},
      {"MVN", kTranslated, TranslateMvn},
      {"Normalize", kTranslated, TranslateNormalize},
      {"Scale", kTranslated, TranslateScale},
  };
}

}  // namespace caffe2rt
