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

}  // namespace caffe2rt
