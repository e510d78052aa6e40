#pragma once
// The common part of the built-in NCHW kernels. Images are cut into strips of output rows and the
// strips are distributed among threads. A kernel reads the input of a strip in place or from a
// padded copy.

#include <vector>

#include "operators/conv/conv_kernel.h"
#include "operators/conv/padded_rows.h"

namespace caffe2rt {

// A strip of output rows of one image, and its input.
struct ConvStrip {
  const float* x;  // tap 0 of the strip's first window
  int64_t channel_stride;
  int64_t row_stride;  // between input rows
  float* y;            // the strip's first row of output channel 0
  int64_t rows;        // number of output rows
};

// Used by one thread at a time, like every ConvKernel; Run itself distributes strips over the
// thread pool.
class StripConv : public ConvKernel {
 public:
  int64_t ScratchSize() const final { return direct_ ? 0 : rows_.size(); }
  int ScratchParts() const final { return pieces_; }
  void Run(const float* x, const void* filter, const float* bias, float* y,
           PieceScratch scratch) final;

 protected:
  // With `direct`, no window reaches outside the image: rows are read in place and an image is one
  // strip. Otherwise rows are copied to a PaddedRows with `phases`.
  StripConv(const ConvShape& shape, const ImageAxes& axes, bool direct, int64_t phases);

  // Called concurrently by several threads, each for different strips.
  virtual void RunStrip(const ConvStrip& strip, const float* filter, const float* bias) const = 0;

  int64_t tap_count() const { return static_cast<int64_t>(taps_.size()); }
  // Number of filter values that contribute to one output.
  int64_t depth() const { return shape_.in_group() * tap_count(); }
  int64_t strip_rows() const { return direct_ ? axes_.rows.out : rows_.strip(); }
  int64_t row_stride() const { return direct_ ? axes_.columns.in : rows_.row_size(); }

  const ConvShape shape_;
  const ImageAxes axes_;
  const bool direct_;
  const PaddedRows rows_;
  std::vector<int64_t> taps_;  // offset of each tap from the first pixel of its window

 private:
  const int64_t strips_;  // of an image
  const int pieces_;
};

}  // namespace caffe2rt
