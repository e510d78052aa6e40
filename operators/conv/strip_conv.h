#pragma once
// What the own NCHW kernels share: pictures are cut into strips of output rows, strips are dealt to
// threads, and the input of a strip is read where it lies or from a padded copy.

#include <vector>

#include "operators/conv/conv_kernel.h"
#include "operators/conv/padded_rows.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

// A strip as a kernel reads and writes it.
struct ConvStrip {
  const float* x;  // tap 0 of the strip's first window
  int64_t channel_stride;
  int64_t row_stride;  // between input rows
  float* y;            // the strip's first row of output channel 0
  int64_t rows;        // of output
};

// One thread at a time, as every ConvKernel; Run itself spreads strips over the pool.
class StripConv : public ConvKernel {
 public:
  void Run(const float* x, const void* filter, const float* bias, float* y) final;

 protected:
  // `direct`: windows never leave the picture, so that rows are read where they lie and an image is
  // one strip. Else padded rows are copied, `phases` as PaddedRows says.
  StripConv(const ConvShape& shape, const PictureAxes& axes, bool direct, int64_t phases);

  // Called by several threads at once, each with strips of its own.
  virtual void RunStrip(const ConvStrip& strip, const float* filter, const float* bias) const = 0;

  int64_t tap_count() const { return static_cast<int64_t>(taps_.size()); }
  // Filter values that one output pixel meets.
  int64_t depth() const { return shape_.in_group() * tap_count(); }
  int64_t strip_rows() const { return direct_ ? axes_.rows.out : rows_.strip(); }
  int64_t row_stride() const { return direct_ ? axes_.columns.in : rows_.row_size(); }

  const ConvShape shape_;
  const PictureAxes axes_;
  const bool direct_;
  const PaddedRows rows_;
  std::vector<int64_t> taps_;  // offsets of the taps from a window's first pixel

 private:
  std::vector<ThreadScratch> scratch_;  // one a piece
};

}  // namespace caffe2rt
