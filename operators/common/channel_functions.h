#pragma once
// Functions of an element and parameters of its channel, y = f(x, a[channel], b[channel]), over
// tensors whose channels are neighbours in memory (channel_planes.h).
//
//   PadChannels(planes, scale, 1, &a);
//   MapChannels(planes, ScaleAndShift{}, a.data(), b.data(), 0, x, y);
//
// Runs on the threads of the process. y may be x.

#include <vector>

#include "caffe2_core/base/simd.h"
#include "operators/common/channel_planes.h"

namespace caffe2rt {

// x * a + b, at least `lowest`. A NaN stays.
struct ScaleAndShift {
  float lowest;
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float b) const {
    const float y = x * a + b;
    return y < lowest ? lowest : y;
  }
};
struct AddChannel {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float) const { return x + a; }
};
struct SubtractChannel {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float) const { return x - a; }
};
struct MultiplyChannel {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float) const { return x * a; }
};
// x for x > 0, a * x otherwise.
struct SlopeBelowZero {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float a, float) const {
    return x > 0.0f ? x : a * x;
  }
};

namespace internal {

template <class Function>
struct ChannelKernel {
  Function function;
  // `pixels` pixels of `lanes` floats.
  CAFFE2RT_SIMD_INLINE void operator()(int64_t pixels, int64_t lanes, const float* a,
                                       const float* b, const float* x, float* y) const {
    const Function f = function;
    for (int64_t p = 0; p < pixels; ++p, x += lanes, y += lanes) {
      int64_t c = 0;
      for (; c + kChannelBlock <= lanes; c += kChannelBlock) {
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < kChannelBlock; ++i) y[c + i] = f(x[c + i], a[c + i], b[c + i]);
      }
      for (; c < lanes; ++c) y[c] = f(x[c], a[c], b[c]);
    }
  }
};

}  // namespace internal

// Copies `count` rows of parameters, one for each channel, to *padded, with zeros for the padding of
// each row. It allocates nothing if *padded has the size already.
void PadChannels(const ChannelPlanes& planes, const float* values, int64_t count,
                 std::vector<float>* padded);

// Calls kernel(pixels, lanes, a, b, x, y) for runs of pixels of all planes, on the threads of the
// process, with a and b of the run's channels. Their layout is that of MapChannels.
template <class Kernel, class Y>
void RunOnPixels(const ChannelPlanes& planes, const Kernel& kernel, const float* a, const float* b,
                 int64_t per_image, const float* x, Y* y) {
  const int64_t blocks = planes.blocks(), lanes = planes.lanes(), width = planes.width;
  ForEachRange(planes.planes() * planes.height, width * lanes, 1, [&](int64_t row, int64_t last) {
    while (row < last) {  // the rows of one plane at a time
      const int64_t plane = row / planes.height;
      const int64_t rows = std::min(last, (plane + 1) * planes.height) - row;
      const int64_t at = plane / blocks * per_image + plane % blocks * kChannelBlock;
      const int64_t start = row * width * lanes;
      RunSimd(kernel, rows * width, lanes, a + at, b + at, x + start, y + start);
      row += rows;
    }
  });
}

// a and b have padded_channels() elements for each image, or if per_image is 0 for all images;
// otherwise per_image is the distance between the parameters of images. b may be a if the function
// does not use it. The padding of the tensor stays zero if f(0, a, b) is 0 there.
template <class Function>
void MapChannels(const ChannelPlanes& planes, const Function& f, const float* a, const float* b,
                 int64_t per_image, const float* x, float* y) {
  RunOnPixels(planes, internal::ChannelKernel<Function>{f}, a, b, per_image, x, y);
}

}  // namespace caffe2rt
