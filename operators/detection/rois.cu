// The kernels of RoIAlign, RoIPool, RoIPoolF, PSRoIPool and their gradients. A thread computes one
// element of the output. In a gradient, it adds up the bins of all RoIs that contain its element of
// X, so that no atomics are needed. Exact: the edges of bins are rounded to pixels.

#include "operators/detection/roi_places.cuh"

namespace caffe2rt {

namespace {

struct Align {
  RoiGeometry g;
  FaultReporter check;
  const float* x;
  const float* rois;
  float* y;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place bin = PlaceOf(i, g.channels, g.pooled_h, g.pooled_w, g.last);
    RoiWindow window;
    y[i] = 0;
    if (!check(PlaceRoi(g, rois + bin.image * g.columns, &window), bin.image, g.batch)) return;
    const int64_t pixel = g.last ? g.channels : 1;  // distance between pixels
    const float* const plane =
        x + window.image * g.channels * g.pixels() + bin.channel * (g.last ? 1 : g.pixels());
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    window.rows.SamplesInside(bin.row, &top, &bottom);
    window.columns.SamplesInside(bin.column, &left, &right);
    float sum = 0;
    for (int64_t r = top; r < bottom; ++r) {
      const AxisTap row = TapAt(window.rows.Position(bin.row, r), g.height);
      for (int64_t c = left; c < right; ++c) {
        const AxisTap column = TapAt(window.columns.Position(bin.column, c), g.width);
        if (row.inside && column.inside) sum += Interpolate(plane, g.width, pixel, row, column);
      }
    }
    y[i] = sum /
           (static_cast<float>(window.rows.samples) * static_cast<float>(window.columns.samples));
  }
};

struct AlignGradient {
  RoiGeometry g;
  FaultReporter check;
  const float* rois;
  const float* dy;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place at = PlaceOf(i, g.channels, g.height, g.width, g.last);
    float sum = 0;
    for (int64_t roi = 0; roi < g.rois; ++roi) {
      RoiWindow window;
      if (!check(PlaceRoi(g, rois + roi * g.columns, &window), roi, g.batch)) continue;
      if (window.image == at.image) sum += OfRoi(window, at, roi);
    }
    dx[i] = sum;
  }

  CAFFE2RT_HOST_DEVICE float OfRoi(const RoiWindow& window, const Place& at, int64_t roi) const {
    int64_t top = 0, bottom = 0, left = 0, right = 0;
    window.rows.BinsOfPixel(at.row, &top, &bottom);
    window.columns.BinsOfPixel(at.column, &left, &right);
    if (left >= right) return 0;
    const int64_t distance = g.last ? g.channels : 1;
    const float* const bins =
        dy + roi * g.channels * g.bins() + at.channel * (g.last ? 1 : g.bins());
    float sum = 0;
    for (int64_t r = top; r < bottom; ++r) {
      const float row_weight = window.rows.Weight(r, at.row);
      if (row_weight == 0) continue;
      for (int64_t c = left; c < right; ++c) {
        const float weight = row_weight * window.columns.Weight(c, at.column);
        if (weight != 0) sum += weight * bins[(r * g.pooled_w + c) * distance];
      }
    }
    return sum;
  }
};

struct MaxPool {
  RoiGeometry g;
  FaultReporter check;
  const float* x;
  const float* rois;
  float* y;
  int32_t* argmax;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place bin = PlaceOf(i, g.channels, g.pooled_h, g.pooled_w, false);
    PoolWindow window;
    PoolSpan rows, columns;
    const RoiFault fault = PlacePool(g, rois + bin.image * 5, /*by_position=*/false, &window);
    if (check(fault, bin.image, g.batch)) {
      rows = window.rows.Span(bin.row);
      columns = window.columns.Span(bin.column);
    }
    const float* const plane = x + (window.image * g.channels + bin.channel) * g.pixels();
    const bool empty = rows.first >= rows.last || columns.first >= columns.last;
    float largest = empty ? 0 : -3.402823466e38f;
    int64_t at = -1;
    for (int64_t h = rows.first; h < rows.last; ++h) {
      for (int64_t k = h * g.width + columns.first; k < h * g.width + columns.last; ++k) {
        if (!(plane[k] > largest)) continue;
        largest = plane[k];
        at = k;
      }
    }
    y[i] = largest;
    if (argmax != nullptr) argmax[i] = static_cast<int32_t>(at);
  }
};

struct MaxPoolGradient {
  RoiGeometry g;
  FaultReporter check;
  const float* rois;
  const float* dy;
  const int32_t* argmax;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place at = PlaceOf(i, g.channels, g.height, g.width, false);
    const int64_t pixel = at.row * g.width + at.column;
    float sum = 0;
    for (int64_t roi = 0; roi < g.rois; ++roi) {
      PoolWindow window;
      const RoiFault fault = PlacePool(g, rois + roi * 5, /*by_position=*/false, &window);
      if (!check(fault, roi, g.batch) || window.image != at.image) continue;
      int64_t top = 0, bottom = 0, left = 0, right = 0;
      window.rows.BinsOfPixel(at.row, &top, &bottom);
      window.columns.BinsOfPixel(at.column, &left, &right);
      const int64_t bins = (roi * g.channels + at.channel) * g.bins();
      for (int64_t r = top; r < bottom; ++r) {
        for (int64_t c = left; c < right; ++c) {
          const int64_t bin = bins + r * g.pooled_w + c;
          if (argmax[bin] == pixel) sum += dy[bin];
        }
      }
    }
    dx[i] = sum;
  }
};

struct AveragePositions {
  RoiGeometry g;
  int64_t outputs;
  FaultReporter check;
  const float* x;
  const float* rois;
  float* y;
  int32_t* channel;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place bin = PlaceOf(i, outputs, g.pooled_h, g.pooled_w, false);
    const int64_t of_image = i % (outputs * g.bins());
    channel[i] = static_cast<int32_t>(of_image);
    y[i] = 0;
    PoolWindow window;
    const RoiFault fault = PlacePool(g, rois + bin.image * 5, /*by_position=*/true, &window);
    if (!check(fault, bin.image, g.batch)) return;
    const PoolSpan rows = window.rows.Span(bin.row), columns = window.columns.Span(bin.column);
    if (rows.first >= rows.last || columns.first >= columns.last) return;
    const float* const plane = x + (window.image * g.channels + of_image) * g.pixels();
    float sum = 0;
    for (int64_t h = rows.first; h < rows.last; ++h) {
      for (int64_t w = columns.first; w < columns.last; ++w) sum += plane[h * g.width + w];
    }
    y[i] = sum / static_cast<float>((rows.last - rows.first) * (columns.last - columns.first));
  }
};

struct AveragePositionsGradient {
  RoiGeometry g;
  FaultReporter check;
  const float* rois;
  const float* dy;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const Place at = PlaceOf(i, g.channels, g.height, g.width, false);
    float sum = 0;
    for (int64_t roi = 0; roi < g.rois; ++roi) {
      PoolWindow window;
      const RoiFault fault = PlacePool(g, rois + roi * 5, /*by_position=*/true, &window);
      if (!check(fault, roi, g.batch) || window.image != at.image) continue;
      const PoolSpan rows = window.rows.Span(at.channel / g.pooled_w % g.pooled_h);
      const PoolSpan columns = window.columns.Span(at.channel % g.pooled_w);
      if (at.row < rows.first || at.row >= rows.last) continue;
      if (at.column < columns.first || at.column >= columns.last) continue;
      sum += dy[roi * g.channels + at.channel] /
             static_cast<float>((rows.last - rows.first) * (columns.last - columns.first));
    }
    dx[i] = sum;
  }
};

}  // namespace

void AlignRois(CUDAContext& context, const RoiGeometry& g, const float* x, const float* rois,
               float* y, RoiScratch*) {
  ForEach(context, g.out_elements(), Align{g, ReporterOf(context), x, rois, y}, "RoIAlign");
}
void AlignRoisGradient(CUDAContext& context, const RoiGeometry& g, const float* rois,
                       const float* dy, float* dx, RoiScratch*) {
  // Without bins there is nothing to add, and nothing to divide by.
  RoiGeometry geometry = g;
  if (g.out_elements() == 0) geometry.rois = 0;
  ForEach(context, g.in_elements(), AlignGradient{geometry, ReporterOf(context), rois, dy, dx},
          "RoIAlignGradient");
}

void MaxPoolRois(CUDAContext& context, const RoiGeometry& g, const float* x, const float* rois,
                 float* y, int32_t* argmax) {
  ForEach(context, g.out_elements(), MaxPool{g, ReporterOf(context), x, rois, y, argmax},
          "RoIPool");
}
void MaxPoolRoisGradient(CUDAContext& context, const RoiGeometry& g, const float* rois,
                         const float* dy, const int32_t* argmax, float* dx) {
  ForEach(context, g.in_elements(), MaxPoolGradient{g, ReporterOf(context), rois, dy, argmax, dx},
          "RoIPoolGradient");
}

void AveragePoolPositions(CUDAContext& context, const RoiGeometry& g, int64_t outputs,
                          const float* x, const float* rois, float* y, int32_t* channel) {
  const AveragePositions average{g, outputs, ReporterOf(context), x, rois, y, channel};
  ForEach(context, g.rois * outputs * g.bins(), average, "PSRoIPool");
}
void AveragePoolPositionsGradient(CUDAContext& context, const RoiGeometry& g, int64_t,
                                  const float* rois, const float* dy, float* dx) {
  ForEach(context, g.in_elements(), AveragePositionsGradient{g, ReporterOf(context), rois, dy, dx},
          "PSRoIPoolGradient");
}

}  // namespace caffe2rt
