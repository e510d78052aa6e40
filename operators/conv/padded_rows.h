#pragma once
// Copies input rows of an image with their padding, so that the built-in kernels need no bounds
// checks at the borders.
//
// The image is processed in strips of output rows. The strip of output rows [first, first + count)
// needs RowsFor(count) padded input rows. A padded row is stored as `phases` runs, each of which
// holds every phases-th pixel: pixel p is at (p % phases) * run + p / phases. With `phases` equal
// to the stride, the pixels that one tap reads for neighbouring windows are contiguous.
//
// Immutable after construction; thread safe.

#include <cstdint>

#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

// The two axes of an image. A convolution over one axis is an image of one row.
struct ImageAxes {
  WindowAxis rows;
  WindowAxis columns;
};
// Returns false if the shape has more than two axes.
bool AsImage(const ConvShape& shape, ImageAxes* axes);

class PaddedRows {
 public:
  // A strip has as many output rows as fit `budget` floats, at least one.
  PaddedRows(const ImageAxes& axes, int64_t channels, int64_t phases, int64_t budget);

  int64_t strip() const { return strip_; }  // output rows in a strip
  int64_t strips() const { return (axes_.rows.out + strip_ - 1) / strip_; }
  int64_t RowsFor(int64_t count) const;
  // Sizes in floats: of one padded row, of one channel of a full strip, and of a whole strip
  // including what vector loads may read past its end.
  int64_t row_size() const { return phases_ * run_; }
  int64_t channel_size() const { return RowsFor(strip_) * row_size(); }
  int64_t size() const { return size_; }
  // Offset, from the start of the strip, of tap (i, j) of the first window.
  int64_t TapOffset(int64_t i, int64_t j) const;

  // Copies the input rows that output rows [first, first + count) read from image x [channels,
  // rows.in, columns.in] to `strip`.
  void Copy(const float* x, int64_t first, int64_t count, float* strip) const;

 private:
  void CopyRow(const float* row, float* to) const;

  ImageAxes axes_;
  int64_t channels_, phases_, run_, strip_, size_;
};

}  // namespace caffe2rt
