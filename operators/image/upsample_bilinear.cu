// UpsampleBilinear and its gradient on CUDA. Exact: the weights are differences that cancel.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/upsample_bilinear_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one pixel.
template <class Index>
struct Interpolate {
  Index out_height, out_width;
  LinearAxis height, width;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), line = at / out_width;
    const LinearSource row = height.Source(line % out_height);
    const LinearSource column = width.Source(at % out_width);
    const float* const plane = x + static_cast<int64_t>(line / out_height) * height.in * width.in;
    const float* const upper = plane + row.first * width.in;
    const float* const lower = plane + row.second * width.in;
    const float above =
        (1 - column.share) * upper[column.first] + column.share * upper[column.second];
    const float below =
        (1 - column.share) * lower[column.first] + column.share * lower[column.second];
    y[i] = (1 - row.share) * above + row.share * below;
  }
};

// A thread computes the gradient of one pixel of X.
template <class Index>
struct Spread {
  Index in_height, in_width;
  LinearAxis height, width;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), line = at / in_width;
    const int64_t row = line % in_height, column = at % in_width;
    const float* const plane = dy + static_cast<int64_t>(line / in_height) * height.out * width.out;
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    height.Targets(row, &top, &bottom);
    width.Targets(column, &left, &right);
    float sum = 0;
    for (int64_t r = top; r < bottom; ++r) {
      float row_sum = 0;
      for (int64_t c = left; c < right; ++c) {
        row_sum += width.Source(c).Weight(column) * plane[r * width.out + c];
      }
      sum += height.Source(r).Weight(row) * row_sum;
    }
    dx[i] = sum;
  }
};

}  // namespace

void InterpolatePixels(CUDAContext& context, int64_t planes, const LinearAxis& height,
                       const LinearAxis& width, LinearTables*, const float* x, float* y) {
  const int64_t n = planes * height.out * width.out;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Interpolate<Index> interpolate{
        static_cast<Index>(height.out), static_cast<Index>(width.out), height, width, x, y};
    ForEach(context, n, interpolate, "UpsampleBilinear");
  });
}

void InterpolatePixelsGradient(CUDAContext& context, int64_t planes, const LinearAxis& height,
                               const LinearAxis& width, LinearTables*, const float* dy, float* dx) {
  const int64_t n = planes * height.in * width.in;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Spread<Index> spread{
        static_cast<Index>(height.in), static_cast<Index>(width.in), height, width, dy, dx};
    ForEach(context, n, spread, "UpsampleBilinearGradient");
  });
}

}  // namespace caffe2rt
