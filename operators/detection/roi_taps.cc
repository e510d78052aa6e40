#include "operators/detection/roi_taps.h"

#include <algorithm>

#include "operators/detection/roi_checks.h"

namespace caffe2rt {

namespace {

struct PixelSpan {
  int64_t first, last;
};

// Adds the taps of the bins of one axis. Returns the pixels with a weight.
PixelSpan AddAxis(const RoiAxis& axis, RoiScratch* scratch) {
  PixelSpan span{axis.size, 0};
  for (int64_t b = 0; b < axis.bins; ++b) {
    BinTaps taps{0, 0, static_cast<int64_t>(scratch->weights.size())};
    int64_t first = 0, last = 0;
    axis.SamplesInside(b, &first, &last);
    if (axis.size == 0) last = first;
    if (first < last) {
      taps.first = TapAt(axis.Position(b, first), axis.size).low;
      taps.count = TapAt(axis.Position(b, last - 1), axis.size).high - taps.first + 1;
      scratch->weights.resize(scratch->weights.size() + static_cast<size_t>(taps.count));
      float* const weights = scratch->weights.data() + taps.at;
      std::fill_n(weights, taps.count, 0.0f);
      const float share = 1 / static_cast<float>(axis.samples);
      for (int64_t i = first; i < last; ++i) {
        const AxisTap tap = TapAt(axis.Position(b, i), axis.size);
        weights[tap.low - taps.first] += (1 - tap.share) * share;
        weights[tap.high - taps.first] += tap.share * share;
      }
      span.first = std::min(span.first, taps.first);
      span.last = std::max(span.last, taps.first + taps.count);
    }
    scratch->bins.push_back(taps);
  }
  return span;
}

}  // namespace

int64_t FillRoiTaps(const RoiGeometry& geometry, const float* rois, int64_t first,
                    RoiScratch* scratch) {
  constexpr size_t kMostWeights = 4 << 20;
  scratch->rois.clear();
  scratch->bins.clear();
  scratch->weights.clear();
  int64_t r = first;
  for (; r < geometry.rois && scratch->weights.size() < kMostWeights; ++r) {
    RoiWindow window;
    CheckRoiFault(PlaceRoi(geometry, rois + r * geometry.columns, &window), r, geometry.batch);
    RoiTaps taps;
    taps.roi = r;
    taps.image = window.image;
    taps.undefined = window.rows.samples == 0 || window.columns.samples == 0;
    taps.rows = static_cast<int64_t>(scratch->bins.size());
    const PixelSpan rows = AddAxis(window.rows, scratch);
    taps.columns = static_cast<int64_t>(scratch->bins.size());
    const PixelSpan columns = AddAxis(window.columns, scratch);
    taps.top = rows.first;
    taps.bottom = rows.last;
    taps.left = columns.first;
    taps.right = columns.last;
    scratch->rois.push_back(taps);
  }
  std::sort(scratch->rois.begin(), scratch->rois.end(), [](const RoiTaps& a, const RoiTaps& b) {
    return a.image != b.image ? a.image < b.image : a.roi < b.roi;
  });
  return r;
}

ImageRois NextImage(const RoiScratch& scratch, size_t first) {
  ImageRois group;
  group.image = scratch.rois[first].image;
  group.first = group.last = first;
  for (; group.last < scratch.rois.size(); ++group.last) {
    const RoiTaps& roi = scratch.rois[group.last];
    if (roi.image != group.image) break;
    if (roi.empty()) continue;
    if (group.empty()) {
      group.top = roi.top;
      group.bottom = roi.bottom;
      group.left = roi.left;
      group.right = roi.right;
      continue;
    }
    group.top = std::min(group.top, roi.top);
    group.bottom = std::max(group.bottom, roi.bottom);
    group.left = std::min(group.left, roi.left);
    group.right = std::max(group.right, roi.right);
  }
  return group;
}

}  // namespace caffe2rt
