#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/resize_nearest_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one element.
template <class Index>
struct Take {
  Index items, out_height, out_width;
  NearestAxis height, width;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), pixel = at / items, row = pixel / out_width;
    const int64_t plane = row / out_height;
    const int64_t from_row = plane * height.in + height.Source(row % out_height);
    y[i] = x[(from_row * width.in + width.Source(pixel % out_width)) * items + at % items];
  }
};

}  // namespace

void TakePixels(CUDAContext& context, int64_t planes, int64_t items, const NearestAxis& height,
                const NearestAxis& width, PixelTables*, const float* x, float* y) {
  const int64_t n = planes * items * height.out * width.out;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Take<Index> take{static_cast<Index>(items),
                           static_cast<Index>(height.out),
                           static_cast<Index>(width.out),
                           height,
                           width,
                           x,
                           y};
    ForEach(context, n, take, "ResizeNearest");
  });
}

}  // namespace caffe2rt
