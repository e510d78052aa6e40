#pragma once
// RoIAlign on the CPU: the bilinear weights of all RoIs.
//
// A bin is the average of samples on a grid, and a sample is the product of a position in the rows
// and one in the columns. So the weights of a bin are the product of weights of rows and weights of
// columns, which are computed once for all channels.

#include <cstdint>
#include <vector>

#include "operators/detection/roi_geometry.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// The pixels with a weight in a bin, along one axis: [first, first + count). Their weights are at
// `at`.
struct BinTaps {
  int64_t first = 0;
  int64_t count = 0;
  int64_t at = 0;
};

struct RoiTaps {
  int64_t roi = 0;
  int64_t image = 0;
  int64_t rows = 0, columns = 0;                     // index of the first BinTaps of each axis
  int64_t top = 0, bottom = 0, left = 0, right = 0;  // the pixels with a weight
  bool undefined = false;                            // no samples: the average of nothing is NaN

  bool empty() const { return top >= bottom || left >= right; }
};

// Tables and scratch memory of an operator. The memory is reused in later runs.
struct RoiScratch {
  std::vector<RoiTaps> rois;  // sorted by image
  std::vector<BinTaps> bins;
  std::vector<float> weights;
  ThreadScratch floats;
};

// Fills the tables with RoIs from `first` on, at least one, until they have some millions of weights.
// Returns the first RoI that is not in the tables. THROWS if a RoI is invalid.
int64_t FillRoiTaps(const RoiGeometry& geometry, const float* rois, int64_t first,
                    RoiScratch* scratch);

// The RoIs of one image, [first, last) of RoiScratch::rois, and a rectangle around their pixels.
struct ImageRois {
  int64_t image = 0;
  size_t first = 0, last = 0;
  int64_t top = 0, bottom = 0, left = 0, right = 0;

  bool empty() const { return top >= bottom || left >= right; }
  int64_t pixels() const { return empty() ? 0 : (bottom - top) * (right - left); }
};

// The group that starts at RoI `first`.
ImageRois NextImage(const RoiScratch& scratch, size_t first);

}  // namespace caffe2rt
