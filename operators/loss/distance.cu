// The kernels of the distances and their gradients. Exact: the gradient of CosineSimilarity is a
// difference that cancels.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/loss/distance_kernels.h"

namespace caffe2rt {

namespace {

// A warp or a block computes one row.
struct SumRows {
  Distance distance;
  int64_t cols;
  const float* x;
  const float* y;
  float* z;

  CAFFE2RT_HOST_DEVICE float Term(int64_t i) const {
    if (distance == Distance::kDotProduct) return x[i] * y[i];
    const float difference = x[i] - y[i];
    if (distance == Distance::kL1) return difference < 0.0f ? -difference : difference;
    return 0.5f * (difference * difference);
  }
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * cols;
    const float sum =
        row.Reduce(cols, 0.0f, Plus(), [=, this](int64_t j) { return Term(first + j); });
    row.Once([=, this] { z[row.index()] = sum; });
  }
};

struct Products {
  float xx, yy, xy;
};
struct AddProducts {
  CAFFE2RT_HOST_DEVICE Products operator()(const Products& a, const Products& b) const {
    return {a.xx + b.xx, a.yy + b.yy, a.xy + b.xy};
  }
};

CAFFE2RT_HOST_DEVICE Products ProductsOf(const Row& row, int64_t cols, const float* x,
                                         const float* y) {
  return row.Reduce(cols, Products{0, 0, 0}, AddProducts(), [=](int64_t j) {
    return Products{x[j] * x[j], y[j] * y[j], x[j] * y[j]};
  });
}

struct CosineRows {
  int64_t cols;
  const float* x;
  const float* y;
  float* z;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * cols;
    const Products sums = ProductsOf(row, cols, x + first, y + first);
    row.Once([=, this] { z[row.index()] = sums.xy / (NormOf(sums.xx) * NormOf(sums.yy)); });
  }
};

// A thread computes one element of dx and of dy.
struct DistanceGradientElements {
  Distance distance;
  int64_t cols;
  const float* x;
  const float* y;
  const float* dz;
  float* dx;
  float* dy;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const float scale = dz[i / cols];
    if (distance == Distance::kDotProduct) {
      dx[i] = scale * y[i];
      dy[i] = scale * x[i];
      return;
    }
    const float gradient =
        scale * (distance == Distance::kL1 ? SignOfDifference(x[i], y[i]) : x[i] - y[i]);
    dx[i] = gradient;
    dy[i] = -gradient;
  }
};

// A warp or a block computes one row.
struct CosineGradientRows {
  int64_t cols;
  const float* x;
  const float* y;
  const float* dz;
  float* dx;
  float* dy;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * cols;
    const Products sums = ProductsOf(row, cols, x + first, y + first);
    const CosineSlopes slopes = CosineSlopes::Make(sums.xx, sums.yy, sums.xy, dz[row.index()]);
    row.ForEach(cols, [=, this](int64_t j) {
      const float a = x[first + j], b = y[first + j];
      dx[first + j] = slopes.other * b - slopes.of_x * a;
      dy[first + j] = slopes.other * a - slopes.of_y * b;
    });
  }
};

}  // namespace

void RowDistances(CUDAContext& context, Distance distance, int64_t rows, int64_t cols,
                  const float* x, const float* y, float* z) {
  if (distance == Distance::kCosine) {
    ForEachRowOf(context, cols, rows, CosineRows{cols, x, y, z}, "RowDistances");
  } else {
    ForEachRowOf(context, cols, rows, SumRows{distance, cols, x, y, z}, "RowDistances");
  }
}

void RowDistancesGradient(CUDAContext& context, Distance distance, int64_t rows, int64_t cols,
                          const float* x, const float* y, const float* dz, float* dx, float* dy) {
  if (distance == Distance::kCosine) {
    ForEachRowOf(context, cols, rows, CosineGradientRows{cols, x, y, dz, dx, dy},
                 "RowDistancesGradient");
  } else {
    ForEach(context, rows * cols, DistanceGradientElements{distance, cols, x, y, dz, dx, dy},
            "RowDistancesGradient");
  }
}

}  // namespace caffe2rt
