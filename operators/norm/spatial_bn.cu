// SpatialBN and its gradient on CUDA: a thread computes one element in test mode, a block of threads
// one channel in training.

#include <cmath>

#include "operators/norm/moments.cuh"
#include "operators/norm/spatial_bn_kernels.h"

namespace caffe2rt {

namespace {

struct TestElement {
  Channels shape;
  BatchNormTest parameters;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t c = (shape.last ? i : i / shape.positions) % shape.count;
    const float factor = parameters.scale[c] / std::sqrt(parameters.var[c] + parameters.epsilon);
    y[i] = x[i] * factor + (parameters.bias[c] - parameters.mean[c] * factor);
  }
};

// Offset of element i of a channel.
CAFFE2RT_HOST_DEVICE inline int64_t OffsetIn(const Channels& shape, int64_t channel, int64_t i) {
  if (shape.last) return i * shape.count + channel;
  return (i / shape.positions * shape.count + channel) * shape.positions + i % shape.positions;
}

struct TrainingRow {
  Channels shape;
  BatchNormTraining parameters;
  const float* x;
  float* y;

  // Mean and variance of a channel over the batch, or over num_batches batches.
  CAFFE2RT_HOST_DEVICE RowMoments MomentsOf(const Row& row, int64_t n) const {
    if (parameters.num_batches > 1) {
      const double total = static_cast<double>(n) * parameters.num_batches;
      const double mean = parameters.sums[row.index()] / total;
      return {mean, parameters.sumsq[row.index()] / total - mean * mean};
    }
    return MomentsOfRow(row, n,
                        [=, this](int64_t i) { return static_cast<double>(x[At(row, i)]); });
  }
  // Offset of element i of the channel.
  CAFFE2RT_HOST_DEVICE int64_t At(const Row& row, int64_t i) const {
    return OffsetIn(shape, row.index(), i);
  }
  // Updates a running value with the value of this batch.
  CAFFE2RT_HOST_DEVICE void Move(float* running, bool keep, float value) const {
    *running = (keep ? parameters.momentum * *running : 0) + (1 - parameters.momentum) * value;
  }

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t c = row.index(), n = shape.batch * shape.positions;
    if (shape.batch == 0) {
      row.Once([=, this] {
        if (!parameters.keep_mean) parameters.running_mean[c] = 0;
        if (!parameters.keep_var) parameters.running_var[c] = 0;
        parameters.saved_mean[c] = 0;
        parameters.saved_scale[c] = 0;
      });
      return;
    }
    const RowMoments moments = MomentsOf(row, n);
    const float mean = static_cast<float>(moments.mean);
    const float var = static_cast<float>(moments.variance);
    const float inverse = 1 / std::sqrt(var + parameters.epsilon);
    const float size = static_cast<float>(static_cast<double>(n) * parameters.num_batches);
    const float unbiased = size / (size - 1);
    row.Once([=, this] {
      Move(parameters.running_mean + c, parameters.keep_mean, mean);
      Move(parameters.running_var + c, parameters.keep_var, var * unbiased);
      parameters.saved_mean[c] = mean;
      parameters.saved_scale[c] = inverse;
    });
    const float factor = parameters.scale[c] * inverse, term = parameters.bias[c] - mean * factor;
    row.ForEach(n, [=, this](int64_t i) {
      const int64_t at = At(row, i);
      y[at] = x[at] * factor + term;
    });
  }
};

struct GradientRow {
  Channels shape;
  BatchNormGradient parameters;
  const float* x;
  const float* dy;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t c = row.index(), n = shape.batch * shape.positions;
    const float mean = parameters.mean != nullptr ? parameters.mean[c] : 0;
    const bool constant = parameters.var != nullptr;
    const float inverse = constant ? 1 / std::sqrt(parameters.var[c] + parameters.epsilon)
                          : parameters.inverse != nullptr ? parameters.inverse[c]
                                                          : 1;
    double dbias, dscale;
    if (parameters.dbias_sum != nullptr) {
      dbias = n > 0 ? parameters.dbias_sum[c] / static_cast<double>(parameters.num_batches) : 0;
      dscale = n > 0 ? parameters.dscale_sum[c] / static_cast<double>(parameters.num_batches) : 0;
      row.Sync();  // the sums may be overwritten below
    } else {
      dbias = row.Reduce(n, 0.0, Plus(), [=, this](int64_t i) {
        return static_cast<double>(dy[OffsetIn(shape, c, i)]);
      });
      dscale = row.Reduce(n, 0.0, Plus(), [=, this](int64_t i) {
        const int64_t at = OffsetIn(shape, c, i);
        return static_cast<double>(dy[at]) * static_cast<double>((x[at] - mean) * inverse);
      });
    }
    row.Once([=, this] {
      parameters.dbias[c] = static_cast<float>(dbias);
      parameters.dscale[c] = static_cast<float>(dscale);
    });
    if (dx == nullptr) return;
    const double count = static_cast<double>(n);
    const float factor = parameters.scale[c] * inverse;
    // Constant statistics do not depend on x.
    const float slope = constant ? 0 : static_cast<float>(dscale / count) * inverse;
    const float shift = constant ? 0 : static_cast<float>(dbias / count);
    row.ForEach(n, [=, this](int64_t i) {
      const int64_t at = OffsetIn(shape, c, i);
      dx[at] = factor * (dy[at] - (x[at] - mean) * slope - shift);
    });
  }
};

}  // namespace

void NormalizeBatch(CUDAContext& context, const Channels& shape, const BatchNormTest& parameters,
                    const float* x, BatchNormScratch*, float* y) {
  ForEach(context, shape.batch * shape.count * shape.positions,
          TestElement{shape, parameters, x, y}, "SpatialBN");
}
void NormalizeBatch(CUDAContext& context, const Channels& shape,
                    const BatchNormTraining& parameters, const float* x, BatchNormScratch*,
                    float* y) {
  ForEachRow(context, shape.count, TrainingRow{shape, parameters, x, y}, "SpatialBN");
}

void GradientOfBatch(CUDAContext& context, const Channels& shape,
                     const BatchNormGradient& parameters, const float* x, const float* dy,
                     BatchNormScratch*, float* dx) {
  ForEachRow(context, shape.count, GradientRow{shape, parameters, x, dy, dx}, "SpatialBNGradient");
}

}  // namespace caffe2rt
