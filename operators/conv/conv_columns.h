#pragma once
// The columns of a convolution: im2col and its reverse, for any number of axes, any padding,
// cropping, dilation and groups, and both layouts. A column holds the inputs of one output in one
// group. Columns are built for a few indices of the first output axis at a time ("rows"), as many
// as fit kColumnBudget, so that they stay in the cache.
//
//   NCHW  columns [depth, rows * row_size]
//   NHWC  columns [rows * row_size, depth]
//
// Immutable after construction; thread safe.

#include <array>
#include <cstdint>

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

class ConvColumns {
 public:
  // THROWS if a size overflows.
  explicit ConvColumns(const ConvShape& shape);

  int64_t depth() const { return depth_; }        // inputs of one output in one group
  int64_t row_size() const { return row_size_; }  // outputs for one index of the first axis
  int64_t rows_at_once() const { return rows_at_once_; }
  // Floats of the columns of rows_at_once() rows.
  int64_t size() const;

  // Writes the columns of rows [row, row + count). `x` is one image, from the first channel of the
  // group on.
  void Fill(const float* x, int64_t row, int64_t count, float* columns) const;
  // The reverse of Fill: adds each element of `columns` to the element of `x` that Fill copies to
  // it.
  void Add(const float* columns, int64_t row, int64_t count, float* x) const;

 private:
  using Index = std::array<int64_t, kMaxWindowAxes>;

  static bool Next(int axes, const Index& first, const Index& last, Index* index);
  int64_t Locate(const Index& index, const Index& tap, int skip) const;
  template <class Row>
  void ForEachRowFirst(int64_t row, int64_t count, const Row& function) const;
  template <class Run>
  void ForEachRunLast(int64_t row, int64_t count, const Run& function) const;

  const ConvShape shape_;
  const int axes_;
  const int64_t in_size_, row_size_, depth_, rows_at_once_;
  Index last_out_, last_tap_;
};

}  // namespace caffe2rt
