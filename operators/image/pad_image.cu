#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/words.cuh"
#include "operators/image/pad_image_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one element.
template <class Index>
struct Pad {
  Index items, out_height, out_width;
  PadAxis height, width;
  PadMode mode;
  float value;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), pixel = at / items, row = pixel / out_width;
    const int64_t plane = row / out_height;
    const int64_t from_row =
        PadSource(static_cast<int64_t>(row % out_height) - height.head, height.in, mode);
    const int64_t from_column =
        PadSource(static_cast<int64_t>(pixel % out_width) - width.head, width.in, mode);
    y[i] = from_row < 0 || from_column < 0
               ? value
               : x[((plane * height.in + from_row) * width.in + from_column) * items + at % items];
  }
};

// A thread adds up the elements of dY that were copied from one element of X.
template <class Index>
struct Unpad {
  Index items, in_height, in_width;
  PadAxis height, width;
  PadMode mode;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Index at = static_cast<Index>(i), pixel = at / items, row = pixel / in_width;
    const float* const plane =
        dy + static_cast<int64_t>(row / in_height) * height.out * width.out * items + at % items;
    float sum = 0;
    for (int part = 0; part < PadAxis::kParts; ++part) {
      const PadRange rows = height.Targets(static_cast<int64_t>(row % in_height), mode, part);
      for (int64_t r = rows.from; r < rows.to; ++r) {
        for (int side = 0; side < PadAxis::kParts; ++side) {
          const PadRange columns =
              width.Targets(static_cast<int64_t>(pixel % in_width), mode, side);
          for (int64_t c = columns.from; c < columns.to; ++c) {
            sum += plane[(r * width.out + c) * items];
          }
        }
      }
    }
    dx[i] = sum;
  }
};

}  // namespace

void PadPixels(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
               const PadAxis& width, PadMode mode, const int32_t*, const int32_t*, float value,
               const float* x, float* y) {
  const int64_t n = planes * items * height.out * width.out;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Pad<Index> pad{static_cast<Index>(items),
                         static_cast<Index>(height.out),
                         static_cast<Index>(width.out),
                         height,
                         width,
                         mode,
                         value,
                         x,
                         y};
    ForEach(context, n, pad, "PadImage");
  });
}

void PadPixelsGradient(CUDAContext& context, int64_t planes, int64_t items, const PadAxis& height,
                       const PadAxis& width, PadMode mode, const int32_t*, const int32_t*,
                       const float* dy, float* dx) {
  const int64_t n = planes * items * height.in * width.in;
  ForIndex(n, [&](auto index) {
    using Index = decltype(index);
    const Unpad<Index> unpad{static_cast<Index>(items),
                             static_cast<Index>(height.in),
                             static_cast<Index>(width.in),
                             height,
                             width,
                             mode,
                             dy,
                             dx};
    ForEach(context, n, unpad, "PadImageGradient");
  });
}

}  // namespace caffe2rt
