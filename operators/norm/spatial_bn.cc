#include "operators/norm/spatial_bn.h"

#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/math/lanes.h"
#include "operators/norm/register.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void ScaleRow(const float* x, int64_t n, float factor, float term, float* y) {
  int64_t i = 0;
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Lanes v;
    math::Load(x + i, v);
    v = v * factor + term;
    math::Store(v, y + i);
  }
  for (; i < n; ++i) y[i] = x[i] * factor + term;
}

CAFFE2RT_SIMD void ScaleColumns(const float* x, int64_t rows, int64_t channels, const float* factor,
                                const float* term, float* y) {
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
    for (; c < channels; ++c) y[c] = x[c] * factor[c] + term[c];
  }
}

std::vector<TensorShape> InferShape(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  const int outputs = args.GetSingleArgument<bool>("is_test", false) ? 1 : 5;
  CAFFE_ENFORCE_EQ(def.output_size(), outputs, "outputs: 1 in testing, 5 in training");
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<TensorShape> out{in[0]};
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X), want at least 2");
  const StorageOrder order =
      StringToStorageOrder(args.GetSingleArgument<std::string>("order", "NCHW"));
  const int64_t channels = order == StorageOrder::NHWC ? dims.back() : dims[1];
  out.resize(static_cast<size_t>(outputs),
             CreateTensorShape(std::vector<int64_t>{channels}, TensorProto::FLOAT));
  return out;
}

}  // namespace

void ScaleChannels(CPUContext&, const Channels& shape, const float* x, const float* factor,
                   const float* term, float* y) {
  if (shape.last || shape.positions == 1) {
    ScaleColumns(x, shape.batch * shape.positions, shape.count, factor, term, y);
    return;
  }
  for (int64_t i = 0; i < shape.batch; ++i) {
    for (int64_t c = 0; c < shape.count; ++c, x += shape.positions, y += shape.positions) {
      ScaleRow(x, shape.positions, factor[c], term[c], y);
    }
  }
}

void FoldBatchNorm(CPUContext&, int64_t n, float epsilon, const float* scale, const float* bias,
                   const float* mean, const float* var, float* factor, float* term) {
  for (int64_t i = 0; i < n; ++i) {
    factor[i] = scale[i] / std::sqrt(var[i] + epsilon);
    term[i] = bias[i] - mean[i] * factor[i];
  }
}

void ChannelMoments(CPUContext&, const Channels& shape, const float* x, float* scratch,
                    Moments* moments) {
  if (shape.last || shape.positions == 1) {
    ColumnMoments(x, shape.batch * shape.positions, shape.count, scratch, moments);
    return;
  }
  for (int64_t c = 0; c < shape.count; ++c) {
    moments[c] = {};
    for (int64_t i = 0; i < shape.batch; ++i) {
      moments[c].Merge(MomentsOf(x + (i * shape.count + c) * shape.positions, shape.positions));
    }
  }
}

void RegisterSpatialBN() {
  RegisterSchema("SpatialBN", __FILE__)
      .NumInputs({5, 7})
      .NumOutputs({1, 5})
      .AllowInplace({{0, 0}, {5, 3}, {6, 4}})
      .EnforceInplace({{3, 1}, {4, 2}})
      .ArgIsTest("1: use the given mean and variance; 0: those of the batch")
      .Arg("epsilon", "added to the variance", 1e-5)
      .Arg("momentum", "how much the running mean and variance keep of their old values", 0.9)
      .Arg("num_batches", "batches that the sums in inputs 5 and 6 were taken over", 1)
      .Arg("order", "layout of the data: NCHW or NHWC", "NCHW")
      .Input(0, "X", "[N, C, *] or [N, *, C]")
      .Input(1, "scale", "[C]")
      .Input(2, "bias", "[C]")
      .Input(3, "mean", "[C]")
      .Input(4, "var", "[C]")
      .Input(5, "sums", "[C], sums of x over num_batches batches; optional")
      .Input(6, "sumsq", "[C], sums of x^2 over num_batches batches; optional")
      .Output(0, "Y", "the shape of X")
      .Output(1, "mean", "[C], running mean; in training, in place")
      .Output(2, "var", "[C], running unbiased variance; in training, in place")
      .Output(3, "saved_mean", "[C], mean of the batch; in training")
      .Output(4, "saved_var", "[C], 1 / sqrt(variance of the batch + epsilon); in training")
      .TensorInferenceFunction(InferShape)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .InheritOnnxSchema("BatchNormalization")
      .SetDoc("Batch normalization: (X - mean) / sqrt(var + epsilon) * scale + bias, by channel.");
  RegisterCpuOperator<SpatialBNOp<CPUContext>>("SpatialBN", __FILE__);
}

}  // namespace caffe2rt
