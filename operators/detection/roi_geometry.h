#pragma once
// Regions of interest (RoIs): where the bins of a RoI are in an image. For the CPU and for CUDA
// kernels, so nothing here throws.
//
// A RoI is a row [image, x1, y1, x2, y2] or, of image 0, [x1, y1, x2, y2]. Its window is divided into
// pooled_h x pooled_w bins.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

// The sizes and arguments of an operator on RoIs.
struct RoiGeometry {
  int64_t batch = 0, channels = 0, height = 0, width = 0;  // of X
  bool last = false;                                       // NHWC
  int64_t rois = 0;
  int64_t columns = 5;  // numbers of a RoI
  int64_t pooled_h = 1, pooled_w = 1;
  int64_t sampling_ratio = 0;  // samples of a bin along an axis; not above 0: adaptive
  float scale = 1;             // pixels of X per unit of a RoI
  bool aligned = false;

  CAFFE2RT_HOST_DEVICE int64_t bins() const { return pooled_h * pooled_w; }
  CAFFE2RT_HOST_DEVICE int64_t pixels() const { return height * width; }
  CAFFE2RT_HOST_DEVICE int64_t in_elements() const { return batch * channels * pixels(); }
  CAFFE2RT_HOST_DEVICE int64_t out_elements() const { return rois * channels * bins(); }
};

// What can be wrong with a RoI.
enum class RoiFault : int32_t { kNone, kImage, kNotFinite, kNegativeSize, kTooLarge, kManySamples };
inline constexpr int kRoiFaults = 6;
// More pixels than this in a bin are a fault: a float cannot tell such pixels apart.
inline constexpr float kLargestBin = 16777216;

CAFFE2RT_HOST_DEVICE inline bool IsFiniteFloat(float x) { return x - x == 0; }

// The image of a RoI. The image number is truncated, as in Caffe2.
CAFFE2RT_HOST_DEVICE inline RoiFault ImageOfRoi(const float* roi, bool has_image, int64_t batch,
                                                int64_t* image) {
  const float number = has_image ? roi[0] : 0;
  if (!(number > -1 && number < static_cast<float>(batch))) return RoiFault::kImage;
  *image = static_cast<int64_t>(number);
  return RoiFault::kNone;
}

// A position between two pixels.
struct AxisTap {
  int64_t low = 0, high = 0;
  float share = 0;  // weight of `high`; that of `low` is 1 - share
  bool inside = false;

  CAFFE2RT_HOST_DEVICE float Weight(int64_t pixel) const {
    return inside ? (low == pixel ? 1 - share : 0) + (high == pixel ? share : 0) : 0;
  }
};

// Positions up to one pixel outside count as the pixel at the edge.
CAFFE2RT_HOST_DEVICE inline AxisTap TapAt(float position, int64_t size) {
  if (!(position >= -1 && position <= static_cast<float>(size)) || size == 0) return {};
  const float at = position > 0 ? position : 0;
  const int64_t low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0, true};
  return {low, low + 1, at - static_cast<float>(low), true};
}

// The value at a position of a plane whose pixels are `distance` elements apart, by bilinear
// interpolation. REQUIRES: both taps are inside.
CAFFE2RT_HOST_DEVICE inline float Interpolate(const float* plane, int64_t width, int64_t distance,
                                              const AxisTap& row, const AxisTap& column) {
  const float* const upper = plane + row.low * width * distance;
  const float* const lower = plane + row.high * width * distance;
  const float above = (1 - column.share) * upper[column.low * distance] +
                      column.share * upper[column.high * distance];
  const float below = (1 - column.share) * lower[column.low * distance] +
                      column.share * lower[column.high * distance];
  return (1 - row.share) * above + row.share * below;
}

// The bins of a RoI along one axis, and the samples of a bin.
struct RoiAxis {
  float start = 0;  // of the first bin, in pixels
  float bin = 0;    // pixels per bin, at least 0
  int64_t bins = 0;
  int64_t samples = 0;  // of a bin
  int64_t size = 0;     // pixels of the image

  CAFFE2RT_HOST_DEVICE float Position(int64_t b, int64_t sample) const {
    return start + static_cast<float>(b) * bin +
           (static_cast<float>(sample) + 0.5f) * bin / static_cast<float>(samples);
  }
  // The number of samples of bin `b` at positions below `limit`, or with `or_at` not above it.
  CAFFE2RT_HOST_DEVICE int64_t SamplesBelow(int64_t b, float limit, bool or_at) const {
    int64_t low = 0, high = samples;  // positions do not decrease from sample to sample
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      const float position = Position(b, middle);
      if (position < limit || (or_at && position == limit)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  // The samples [*first, *last) of bin `b` that are inside the image.
  CAFFE2RT_HOST_DEVICE void SamplesInside(int64_t b, int64_t* first, int64_t* last) const {
    *first = SamplesBelow(b, -1, false);
    *last = SamplesBelow(b, static_cast<float>(size), true);
  }
  // A range of bins [*first, *last) that contains every bin with a sample that reaches the pixel.
  CAFFE2RT_HOST_DEVICE void BinsOfPixel(int64_t pixel, int64_t* first, int64_t* last) const {
    *first = 0;
    *last = bins;
    if (!(bin > 0)) return;
    const float at = static_cast<float>(pixel);
    const float slack = 2 + (at + fabsf(start)) * 1e-6f / bin;  // of rounding
    *first = ClampToInt((at - 1 - start) / bin - slack, 0, bins);
    *last = ClampToInt((at + 1 - start) / bin + slack + 1, 0, bins);
  }
  // The weight of a pixel in bin `b`. Samples reach the pixels that are less than 1 away.
  CAFFE2RT_HOST_DEVICE float Weight(int64_t b, int64_t pixel) const {
    const int64_t last = SamplesBelow(b, static_cast<float>(pixel + 1), true);
    float sum = 0;
    for (int64_t i = SamplesBelow(b, static_cast<float>(pixel - 1), false); i < last; ++i) {
      sum += TapAt(Position(b, i), size).Weight(pixel);
    }
    return samples > 0 ? sum / static_cast<float>(samples) : 0;
  }
};

struct RoiWindow {
  int64_t image = 0;
  RoiAxis rows, columns;
};

namespace internal {
CAFFE2RT_HOST_DEVICE inline RoiFault PlaceAxis(const RoiGeometry& g, float low, float high,
                                               int64_t bins, int64_t size, RoiAxis* axis) {
  const float offset = g.aligned ? 0.5f : 0;
  const float start = low * g.scale - offset, end = high * g.scale - offset;
  float length = end - start;
  if (!IsFiniteFloat(start) || !IsFiniteFloat(end) || !IsFiniteFloat(length)) {
    return RoiFault::kNotFinite;
  }
  if (g.aligned && length < 0) return RoiFault::kNegativeSize;
  if (!g.aligned && !(length > 1)) length = 1;
  const float bin = length / static_cast<float>(bins);
  if (bin > kLargestBin) return RoiFault::kTooLarge;
  const int64_t samples =
      g.sampling_ratio > 0 ? g.sampling_ratio : static_cast<int64_t>(ceilf(bin));
  *axis = {start, bin, bins, samples, size};
  return RoiFault::kNone;
}
}  // namespace internal

// The window of RoIAlign.
CAFFE2RT_HOST_DEVICE inline RoiFault PlaceRoi(const RoiGeometry& g, const float* roi,
                                              RoiWindow* window) {
  const bool has_image = g.columns == 5;
  RoiFault fault = ImageOfRoi(roi, has_image, g.batch, &window->image);
  if (fault != RoiFault::kNone) return fault;
  const float* const box = roi + (has_image ? 1 : 0);
  fault = internal::PlaceAxis(g, box[0], box[2], g.pooled_w, g.width, &window->columns);
  if (fault != RoiFault::kNone) return fault;
  return internal::PlaceAxis(g, box[1], box[3], g.pooled_h, g.height, &window->rows);
}

// The pixels [first, last) of a bin of a pool.
struct PoolSpan {
  int64_t first = 0, last = 0;
};

// The bins of RoIPool and PSRoIPool along one axis. The pixels of a bin are all that it touches.
struct PoolAxis {
  float bin = 0;
  float offset = 0;   // of the first bin, in pixels
  int64_t start = 0;  // added to the offset
  int64_t bins = 0;
  int64_t size = 0;

  CAFFE2RT_HOST_DEVICE PoolSpan Span(int64_t b) const {
    const int64_t limit = int64_t{1} << 40;
    const float low = floorf(static_cast<float>(b) * bin + offset);
    const float high = ceilf(static_cast<float>(b + 1) * bin + offset);
    return {ClampPixel(ClampToInt(low, -limit, limit) + start),
            ClampPixel(ClampToInt(high, -limit, limit) + start)};
  }
  // A range of bins [*first, *last) that contains every bin of the pixel.
  CAFFE2RT_HOST_DEVICE void BinsOfPixel(int64_t pixel, int64_t* first, int64_t* last) const {
    const float at = static_cast<float>(pixel - start) - offset;
    const float slack = 2 + (fabsf(at) + fabsf(offset)) * 1e-6f / bin;  // of rounding
    *first = ClampToInt(at / bin - slack, 0, bins);
    *last = ClampToInt((at + 1) / bin + slack + 1, 0, bins);
  }

 private:
  CAFFE2RT_HOST_DEVICE int64_t ClampPixel(int64_t pixel) const {
    return pixel < 0 ? 0 : pixel < size ? pixel : size;
  }
};

struct PoolWindow {
  int64_t image = 0;
  PoolAxis rows, columns;
};

namespace internal {
// A RoI of RoIPool covers whole pixels, at least one.
CAFFE2RT_HOST_DEVICE inline PoolAxis PlacePoolAxis(const RoiGeometry& g, float low, float high,
                                                   int64_t bins, int64_t size) {
  const int64_t limit = int64_t{1} << 30;
  const int64_t start = ClampToInt(roundf(low * g.scale), -limit, limit);
  const int64_t length = ClampToInt(roundf(high * g.scale), -limit, limit) - start + 1;
  const float bin = static_cast<float>(length > 1 ? length : 1) / static_cast<float>(bins);
  return {bin, 0, start, bins, size};
}
// A RoI of PSRoIPool covers whole units before they are scaled, and at least 0.1 pixels.
CAFFE2RT_HOST_DEVICE inline PoolAxis PlacePositionAxis(const RoiGeometry& g, float low, float high,
                                                       int64_t bins, int64_t size) {
  const float start = roundf(low) * g.scale, length = (roundf(high) + 1) * g.scale - start;
  return {(length > 0.1f ? length : 0.1f) / static_cast<float>(bins), start, 0, bins, size};
}
}  // namespace internal

// The window of RoIPool, or of PSRoIPool (`by_position`).
CAFFE2RT_HOST_DEVICE inline RoiFault PlacePool(const RoiGeometry& g, const float* roi,
                                               bool by_position, PoolWindow* window) {
  const RoiFault fault = ImageOfRoi(roi, true, g.batch, &window->image);
  if (fault != RoiFault::kNone) return fault;
  for (int i = 1; i < 5; ++i) {
    if (!IsFiniteFloat(roi[i] * g.scale)) return RoiFault::kNotFinite;
  }
  if (by_position) {
    window->columns = internal::PlacePositionAxis(g, roi[1], roi[3], g.pooled_w, g.width);
    window->rows = internal::PlacePositionAxis(g, roi[2], roi[4], g.pooled_h, g.height);
  } else {
    window->columns = internal::PlacePoolAxis(g, roi[1], roi[3], g.pooled_w, g.width);
    window->rows = internal::PlacePoolAxis(g, roi[2], roi[4], g.pooled_h, g.height);
  }
  return RoiFault::kNone;
}

}  // namespace caffe2rt
