// InstanceNorm and GroupNorm on CUDA: a block of threads computes one group of an image.

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

}  // namespace

void NormalizeGroups(CUDAContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch*, float* y,
                     float* mean, float* inv_std) {
  ForEachRow(context, shape.batch * groups,
             GroupRow{shape, groups, epsilon, x, scale, bias, y, mean, inv_std}, "GroupNorm");
}

}  // namespace caffe2rt
