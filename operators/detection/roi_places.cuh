#pragma once
// For kernels on RoIs: reports of invalid RoIs, and the place of an element in a tensor.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/detection/roi_kernels.h"

namespace caffe2rt {

// Reports the fault of a RoI, if any. Returns whether the RoI is valid.
struct FaultReporter {
  KernelReport* report;
  ReportText texts[kRoiFaults];
  CAFFE2RT_HOST_DEVICE bool operator()(RoiFault fault, int64_t roi, int64_t images) const {
    if (fault == RoiFault::kNone) return true;
    report->Raise(texts[static_cast<int>(fault)], roi, images);
    return false;
  }
};

inline FaultReporter ReporterOf(const CUDAContext& context) {
  FaultReporter reporter{ReportOf(context), {}};
  for (int i = 0; i < kRoiFaults; ++i) reporter.texts[i] = RoiFaultText(static_cast<RoiFault>(i));
  return reporter;
}

// A place in a tensor [images, channels, rows, columns], or NHWC.
struct Place {
  int64_t image, channel, row, column;
};
CAFFE2RT_HOST_DEVICE inline Place PlaceOf(int64_t i, int64_t channels, int64_t height,
                                          int64_t width, bool last) {
  Place place;
  if (last) {
    place.channel = i % channels;
    i /= channels;
  }
  place.column = i % width;
  i /= width;
  place.row = i % height;
  i /= height;
  if (!last) {
    place.channel = i % channels;
    i /= channels;
  }
  place.image = i;
  return place;
}

}  // namespace caffe2rt
