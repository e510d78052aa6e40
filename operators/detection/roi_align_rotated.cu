// The kernels of RoIAlignRotated. A thread computes one element of the output. In the gradient, it
// adds up the samples of all RoIs that reach its element of X, so that no atomics are needed.

#include "operators/detection/roi_places.cuh"
#include "operators/detection/rotated_roi.h"

namespace caffe2rt {

namespace {

struct AlignRotated {
  RoiGeometry g;
  FaultReporter check;
  const float* x;
  const float* rois;
  float* y;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place bin = PlaceOf(i, g.channels, g.pooled_h, g.pooled_w, g.last);
    RotatedRoi roi;
    y[i] = 0;
    if (!check(PlaceRotatedRoi(g, rois + bin.image * g.columns, &roi), bin.image, g.batch)) return;
    const int64_t pixel = g.last ? g.channels : 1;  // distance between pixels
    const float* const plane =
        x + roi.image * g.channels * g.pixels() + bin.channel * (g.last ? 1 : g.pixels());
    float sum = 0;
    for (int64_t r = 0; r < roi.rows.samples; ++r) {
      for (int64_t c = 0; c < roi.columns.samples; ++c) {
        float at_x = 0, at_y = 0;
        roi.Sample(bin.row, r, bin.column, c, &at_x, &at_y);
        const AxisTap row = TapAt(at_y, g.height), column = TapAt(at_x, g.width);
        if (row.inside && column.inside) sum += Interpolate(plane, g.width, pixel, row, column);
      }
    }
    y[i] = sum / (static_cast<float>(roi.rows.samples) * static_cast<float>(roi.columns.samples));
  }
};

struct AlignRotatedGradient {
  RoiGeometry g;
  FaultReporter check;
  const float* rois;
  const float* dy;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place at = PlaceOf(i, g.channels, g.height, g.width, g.last);
    float sum = 0;
    for (int64_t number = 0; number < g.rois; ++number) {
      RotatedRoi roi;
      if (!check(PlaceRotatedRoi(g, rois + number * g.columns, &roi), number, g.batch)) continue;
      if (roi.image != at.image) continue;
      int64_t top = 0, bottom = 0, left = 0, right = 0;
      roi.BinsOfPixel(at.row, at.column, &top, &bottom, &left, &right);
      const float* const bins =
          dy + number * g.channels * g.bins() + at.channel * (g.last ? 1 : g.bins());
      for (int64_t r = top; r < bottom; ++r) {
        for (int64_t c = left; c < right; ++c) {
          const float weight = WeightOf(roi, r, c, at);
          if (weight != 0) sum += weight * bins[(r * g.pooled_w + c) * (g.last ? g.channels : 1)];
        }
      }
    }
    dx[i] = sum;
  }

  // The weight of the pixel in a bin.
  CAFFE2RT_HOST_DEVICE static float WeightOf(const RotatedRoi& roi, int64_t row, int64_t column,
                                             const Place& at) {
    float sum = 0;
    for (int64_t r = 0; r < roi.rows.samples; ++r) {
      for (int64_t c = 0; c < roi.columns.samples; ++c) {
        float x = 0, y = 0;
        roi.Sample(row, r, column, c, &x, &y);
        sum +=
            TapAt(y, roi.rows.size).Weight(at.row) * TapAt(x, roi.columns.size).Weight(at.column);
      }
    }
    const float samples =
        static_cast<float>(roi.rows.samples) * static_cast<float>(roi.columns.samples);
    return samples > 0 ? sum / samples : 0;
  }
};

}  // namespace

void AlignRotatedRois(CUDAContext& context, const RoiGeometry& g, const float* x, const float* rois,
                      float* y) {
  ForEach(context, g.out_elements(), AlignRotated{g, ReporterOf(context), x, rois, y},
          "RoIAlignRotated");
}
void AlignRotatedRoisGradient(CUDAContext& context, const RoiGeometry& g, const float* rois,
                              const float* dy, float* dx) {
  ForEach(context, g.in_elements(), AlignRotatedGradient{g, ReporterOf(context), rois, dy, dx},
          "RoIAlignRotatedGradient");
}

}  // namespace caffe2rt
