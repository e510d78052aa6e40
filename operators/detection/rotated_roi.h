#pragma once
// The samples of RoIAlignRotated in an image. For the CPU and for CUDA kernels, so nothing here
// throws.
//
// A rotated RoI is a row [image, x, y, width, height, angle] or, of image 0, without the image. x
// and y are the center; the angle is in degrees, counterclockwise in the image.

#include "operators/detection/roi_geometry.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct RotatedRoi {
  int64_t image = 0;
  float x = 0, y = 0;  // center
  float cosine = 1, sine = 0;
  RoiAxis rows, columns;  // in the system of the RoI, whose origin is the center

  // The position of a sample in the image.
  CAFFE2RT_HOST_DEVICE void Sample(int64_t row, int64_t row_sample, int64_t column,
                                   int64_t column_sample, float* at_x, float* at_y) const {
    const float dy = rows.Position(row, row_sample), dx = columns.Position(column, column_sample);
    *at_x = dx * cosine + dy * sine + x;
    *at_y = dy * cosine - dx * sine + y;
  }
  // A range of bins along both axes that contains every bin with a sample that reaches the pixel.
  CAFFE2RT_HOST_DEVICE void BinsOfPixel(int64_t row, int64_t column, int64_t* top, int64_t* bottom,
                                        int64_t* left, int64_t* right) const {
    const float dx = static_cast<float>(column) - x, dy = static_cast<float>(row) - y;
    Range(columns, dx * cosine - dy * sine, left, right);
    Range(rows, dx * sine + dy * cosine, top, bottom);
  }

 private:
  // Samples that reach a pixel are at most the square root of 2 away.
  CAFFE2RT_HOST_DEVICE static void Range(const RoiAxis& axis, float at, int64_t* first,
                                         int64_t* last) {
    *first = 0;
    *last = axis.bins;
    if (!(axis.bin > 0)) return;
    const float slack = 1.5f + (fabsf(at) + fabsf(axis.start)) * 1e-6f;
    *first = ClampToInt((at - slack - axis.start) / axis.bin - 1, 0, axis.bins);
    *last = ClampToInt((at + slack - axis.start) / axis.bin + 2, 0, axis.bins);
  }
};

CAFFE2RT_HOST_DEVICE inline RoiFault PlaceRotatedRoi(const RoiGeometry& g, const float* numbers,
                                                     RotatedRoi* roi) {
  const bool has_image = g.columns == 6;
  const RoiFault fault = ImageOfRoi(numbers, has_image, g.batch, &roi->image);
  if (fault != RoiFault::kNone) return fault;
  const float* const box = numbers + (has_image ? 1 : 0);
  const float offset = g.aligned ? 0.5f : 0;
  roi->x = box[0] * g.scale - offset;
  roi->y = box[1] * g.scale - offset;
  const float angle = box[4] * 0.017453292519943295f;
  roi->cosine = cosf(angle);
  roi->sine = sinf(angle);
  if (!IsFiniteFloat(roi->x) || !IsFiniteFloat(roi->y) || !IsFiniteFloat(angle)) {
    return RoiFault::kNotFinite;
  }
  for (int i = 0; i < 2; ++i) {
    float length = box[2 + i] * g.scale;
    if (!IsFiniteFloat(length)) return RoiFault::kNotFinite;
    if (g.aligned && length < 0) return RoiFault::kNegativeSize;
    if (!g.aligned && !(length > 1)) length = 1;
    const int64_t bins = i == 0 ? g.pooled_w : g.pooled_h;
    const float bin = length / static_cast<float>(bins);
    if (bin > kLargestBin) return RoiFault::kTooLarge;
    const int64_t samples =
        g.sampling_ratio > 0 ? g.sampling_ratio : static_cast<int64_t>(ceilf(bin));
    (i == 0 ? roi->columns : roi->rows) = {-length / 2, bin, bins, samples,
                                           i == 0 ? g.width : g.height};
  }
  return roi->rows.samples * roi->columns.samples > int64_t{1} << 20 ? RoiFault::kManySamples
                                                                     : RoiFault::kNone;
}

void AlignRotatedRois(CPUContext& context, const RoiGeometry& geometry, const float* x,
                      const float* rois, float* y);
void AlignRotatedRois(CUDAContext& context, const RoiGeometry& geometry, const float* x,
                      const float* rois, float* y);
void AlignRotatedRoisGradient(CPUContext& context, const RoiGeometry& geometry, const float* rois,
                              const float* dy, float* dx);
void AlignRotatedRoisGradient(CUDAContext& context, const RoiGeometry& geometry, const float* rois,
                              const float* dy, float* dx);

}  // namespace caffe2rt
