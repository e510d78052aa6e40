// InstanceNorm, GroupNorm and their gradients on CUDA: a block of threads computes one group of an
// image.

#include <cmath>

#include "operators/norm/instance_norm_kernels.h"
#include "operators/norm/moments.cuh"

namespace caffe2rt {

namespace {

struct GroupRow {
  Channels shape;
  int64_t groups;
  float epsilon;
  const float* x;
  const float* scale;
  const float* bias;
  float* y;
  float* mean;
  float* inv_std;

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t group = row.index() % groups, image = row.index() / groups;
    const int64_t channels = shape.count / groups, n = channels * shape.positions;
    const int64_t first = group * channels;
    const int64_t start =
        image * shape.count * shape.positions + (shape.last ? first : first * shape.positions);
    // Offset of element i of the group.
    const auto at = [=, this](int64_t i) {
      return start + (shape.last ? i / channels * shape.count + i % channels : i);
    };
    const RowMoments moments =
        MomentsOfRow(row, n, [=, this](int64_t i) { return static_cast<double>(x[at(i)]); });
    const float middle = static_cast<float>(moments.mean);
    const float inverse = 1 / std::sqrt(static_cast<float>(moments.variance) + epsilon);
    row.Once([=, this] {
      if (mean != nullptr) mean[row.index()] = middle;
      if (inv_std != nullptr) inv_std[row.index()] = inverse;
    });
    row.ForEach(n, [=, this](int64_t i) {
      const int64_t c = first + (shape.last ? i % channels : i / shape.positions);
      y[at(i)] = (x[at(i)] - middle) * (scale[c] * inverse) + bias[c];
    });
  }
};

struct GroupGradientRow {
  Channels shape;
  int64_t groups;
  GroupNormGradient gradient;
  float* products;  // sums over each channel of each image, [batch, channels]
  float* plain;

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t image = row.index() / groups;
    const int64_t channels = shape.count / groups, n = channels * shape.positions;
    const int64_t first = row.index() % groups * channels;
    const int64_t start = image * shape.count * shape.positions;
    // Offset of position p of channel c.
    const auto at = [=, this](int64_t c, int64_t p) {
      return start + (shape.last ? p * shape.count + c : c * shape.positions + p);
    };
    const float* const x = gradient.x;
    const float* const dy = gradient.dy;
    const float* const gamma = gradient.gamma;
    float mean, inverse;
    if (gradient.mean != nullptr) {
      mean = gradient.mean[row.index()];
      inverse = gradient.inv_std[row.index()];
    } else {
      const RowMoments moments = MomentsOfRow(row, n, [=, this](int64_t i) {
        return static_cast<double>(x[at(first + i / shape.positions, i % shape.positions)]);
      });
      mean = static_cast<float>(moments.mean);
      inverse = 1 / std::sqrt(static_cast<float>(moments.variance) + gradient.epsilon);
    }
    double total = 0, weighted = 0;
    for (int64_t c = first; c < first + channels; ++c) {
      const double sum = row.Reduce(shape.positions, 0.0, Plus(),
                                    [=](int64_t p) { return static_cast<double>(dy[at(c, p)]); });
      const double product = row.Reduce(shape.positions, 0.0, Plus(), [=](int64_t p) {
        return static_cast<double>(dy[at(c, p)]) *
               static_cast<double>((x[at(c, p)] - mean) * inverse);
      });
      row.Once([=, this] {
        plain[image * shape.count + c] = static_cast<float>(sum);
        products[image * shape.count + c] = static_cast<float>(product);
      });
      total += gamma[c] * sum;
      weighted += gamma[c] * product;
    }
    const float shift = static_cast<float>(total / static_cast<double>(n));
    const float slope = static_cast<float>(weighted / static_cast<double>(n)) * inverse;
    row.ForEach(n, [=, this](int64_t i) {
      const int64_t c = first + (shape.last ? i % channels : i / shape.positions);
      const int64_t k = at(c, shape.last ? i / channels : i % shape.positions);
      gradient.dx[k] = inverse * (gamma[c] * dy[k] - shift - (x[k] - mean) * slope);
    });
  }
};

// A thread adds up the sums of one channel over the images.
struct AddImages {
  Channels shape;
  const float* products;
  const float* plain;
  float* dgamma;
  float* dbeta;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t c) const {
    double product = 0, sum = 0;
    for (int64_t i = 0; i < shape.batch; ++i) {
      product += products[i * shape.count + c];
      sum += plain[i * shape.count + c];
    }
    dgamma[c] = static_cast<float>(product);
    dbeta[c] = static_cast<float>(sum);
  }
};

}  // namespace

void NormalizeGroups(CUDAContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch*, float* y,
                     float* mean, float* inv_std) {
  ForEachRow(context, shape.batch * groups,
             GroupRow{shape, groups, epsilon, x, scale, bias, y, mean, inv_std}, "GroupNorm");
}

void GradientOfGroups(CUDAContext& context, const Channels& shape, int64_t groups,
                      const GroupNormGradient& gradient, float* sums) {
  float* const plain = sums + shape.batch * shape.count;
  ForEachRow(context, shape.batch * groups, GroupGradientRow{shape, groups, gradient, sums, plain},
             "GroupNormGradient");
  ForEach(context, shape.count, AddImages{shape, sums, plain, gradient.dgamma, gradient.dbeta},
          "GroupNormGradient");
}

}  // namespace caffe2rt
