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

// A thread adds up the elements of dY that were copied from one element of X.
template <class Index>
struct GiveBack {
  Index items, in_height, in_width;
  NearestAxis height, width;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), pixel = at / items, row = pixel / in_width;
    const float* const plane =
        dy + static_cast<int64_t>(row / in_height) * height.out * width.out * items + at % items;
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    height.Targets(row % in_height, &top, &bottom);
    width.Targets(pixel % in_width, &left, &right);
    float sum = 0;
    for (int64_t r = top; r < bottom; ++r) {
      for (int64_t c = left; c < right; ++c) sum += plane[(r * width.out + c) * items];
    }
    dx[i] = sum;
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

void TakePixelsGradient(CUDAContext& context, int64_t planes, int64_t items,
                        const NearestAxis& height, const NearestAxis& width, PixelTables*,
                        const float* dy, float* dx) {
  const int64_t n = planes * items * height.in * width.in;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const GiveBack<Index> give_back{static_cast<Index>(items),
                                    static_cast<Index>(height.in),
                                    static_cast<Index>(width.in),
                                    height,
                                    width,
                                    dy,
                                    dx};
    ForEach(context, n, give_back, "ResizeNearestGradient");
  });
}

}  // namespace caffe2rt
