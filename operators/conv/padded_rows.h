#pragma once
// Input rows of a picture copied with their padding, so that the own kernels need no tests at the
// borders.
//
// The padded picture is cut into strips of output rows; the strip of output rows [first, first +
// count) needs RowsFor(count) padded rows. Rows hold `phases` runs of every phases-th pixel, so
// that the pixels one tap meets in neighbouring windows lie side by side: pixel p of a row is at (p
// % phases) * run + p / phases.
//
// Plain values; thread safe.

#include <cstdint>

#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

// The two axes of a picture; one axis is a picture of one row.
struct PictureAxes {
  WindowAxis rows;
  WindowAxis columns;
};
// False for more than two axes.
bool AsPicture(const ConvShape& shape, PictureAxes* axes);

class PaddedRows {
 public:
  // Strips are as high as `budget` floats allow, at least one row.
  PaddedRows(const PictureAxes& axes, int64_t channels, int64_t phases, int64_t budget);

  int64_t strip() const { return strip_; }  // output rows of a strip
  int64_t strips() const { return (axes_.rows.out + strip_ - 1) / strip_; }
  int64_t RowsFor(int64_t count) const;
  // Floats of one padded row, of one channel of a full strip, and of a whole strip with what
  // vectors may read beyond.
  int64_t row_size() const { return phases_ * run_; }
  int64_t channel_size() const { return RowsFor(strip_) * row_size(); }
  int64_t size() const { return size_; }
  // Where tap (i, j) of the window of output row 0, column 0 lies, relative to the strip.
  int64_t TapOffset(int64_t i, int64_t j) const;

  // Copies what output rows [first, first + count) read of a picture x [channels, rows.in,
  // columns.in].
  void Copy(const float* x, int64_t first, int64_t count, float* strip) const;

 private:
  void CopyRow(const float* row, float* to) const;

  PictureAxes axes_;
  int64_t channels_, phases_, run_, strip_, size_;
};

}  // namespace caffe2rt
