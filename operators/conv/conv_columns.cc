#include "operators/conv/conv_columns.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

namespace {

// The range [first, last) of outputs whose tap at `offset` from the start of the window lies inside
// the axis.
struct OutputRange {
  int64_t first, last;
};
OutputRange InsideOutputs(const WindowAxis& axis, int64_t offset) {
  const int64_t shift = offset - axis.pad_head;  // input index of output 0
  const int64_t first = shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride;
  const int64_t last = shift >= axis.in ? 0 : (axis.in - 1 - shift) / axis.stride + 1;
  return {std::min(first, axis.out), std::max(std::min(last, axis.out), std::min(first, axis.out))};
}

// Outputs [begin, end) of the last axis with one tap. Those in `inside` read the input at
// x + o * stride + shift, the others read padding. `x` is null if all of them read padding.
template <class Float>
struct RowOfTap {
  Float* x;
  int64_t shift, stride, begin, end;
  OutputRange inside;
};

void CopyRowOfTap(const RowOfTap<const float>& row, float* to) {
  if (row.x == nullptr) {
    std::fill_n(to, row.end - row.begin, 0.f);
    return;
  }
  const int64_t first = row.inside.first, last = row.inside.last;
  std::fill_n(to, first - row.begin, 0.f);
  if (row.stride == 1) {
    std::copy_n(row.x + first + row.shift, last - first, to + (first - row.begin));
  } else {
    for (int64_t o = first; o < last; ++o) to[o - row.begin] = row.x[o * row.stride + row.shift];
  }
  std::fill_n(to + (last - row.begin), row.end - last, 0.f);
}

void AddRowOfTap(const float* from, const RowOfTap<float>& row) {
  if (row.x == nullptr) return;
  float* const to = row.x + row.shift;
  from -= row.begin;
  if (row.stride == 1) {
    for (int64_t o = row.inside.first; o < row.inside.last; ++o) to[o] += from[o];
  } else if (row.stride == 2) {
    for (int64_t o = row.inside.first; o < row.inside.last; ++o) to[2 * o] += from[o];
  } else {
    for (int64_t o = row.inside.first; o < row.inside.last; ++o) to[o * row.stride] += from[o];
  }
}

}  // namespace

ConvColumns::ConvColumns(const ConvShape& shape)
    : shape_(shape),
      axes_(shape.window.axes),
      in_size_(shape.window.in_size()),
      row_size_(shape.window.out_size() / std::max<int64_t>(shape.window.axis[0].out, 1)),
      depth_(CheckedMultiply(shape.window.kernel_size(), shape.in_group())),
      rows_at_once_(std::clamp<int64_t>(
          kColumnBudget / std::max<int64_t>(CheckedMultiply(depth_, row_size_), 1), 1,
          std::max<int64_t>(shape.window.axis[0].out, 1))) {
  last_out_.fill(1);
  last_tap_.fill(1);
  for (size_t i = 0; i < static_cast<size_t>(axes_); ++i) {
    last_out_[i] = shape.window.axis[i].out;
    last_tap_[i] = shape.window.axis[i].kernel;
  }
}

int64_t ConvColumns::size() const {
  return CheckedMultiply(CheckedMultiply(depth_, row_size_), rows_at_once_);
}

// Advances `index` within [first, last) on each of `axes` axes, the last axis fastest. Returns
// false at the end.
bool ConvColumns::Next(int axes, const Index& first, const Index& last, Index* index) {
  for (int i = axes - 1; i >= 0; --i) {
    const size_t axis = static_cast<size_t>(i);
    if (++(*index)[axis] < last[axis]) return true;
    (*index)[axis] = first[axis];
  }
  return false;
}

// Returns the flat input index for output `index` and tap `tap` over all axes but the last `skip`,
// or -1 if it lies outside.
int64_t ConvColumns::Locate(const Index& index, const Index& tap, int skip) const {
  int64_t position = 0;
  for (size_t i = 0; i < static_cast<size_t>(axes_ - skip); ++i) {
    const WindowAxis& axis = shape_.window.axis[i];
    const int64_t at = index[i] * axis.stride + tap[i] * axis.dilation - axis.pad_head;
    if (at < 0 || at >= axis.in) return -1;
    position = position * axis.in + at;
  }
  return position;
}

// NCHW. Calls function(x_offset, row) for the rows of the last axis, in the order of the columns.
// x_offset is -1 if the row reads padding only; row.x is not set.
template <class Row>
void ConvColumns::ForEachRowFirst(int64_t row, int64_t count, const Row& function) const {
  const size_t last_axis = static_cast<size_t>(axes_ - 1);
  const WindowAxis& inner = shape_.window.axis[last_axis];
  Index first{}, last = last_out_;
  first[0] = row;
  last[0] = row + count;
  const int64_t begin = axes_ == 1 ? row : 0, end = axes_ == 1 ? row + count : inner.out;
  for (int64_t c = 0; c < shape_.in_group(); ++c) {
    Index tap{};
    do {
      const int64_t offset = tap[last_axis] * inner.dilation;
      OutputRange inside = InsideOutputs(inner, offset);
      inside.first = std::clamp(inside.first, begin, end);
      inside.last = std::clamp(inside.last, inside.first, end);
      Index index = first;
      do {
        const int64_t outer = Locate(index, tap, 1);
        function(outer < 0 ? -1 : c * in_size_ + outer * inner.in,
                 RowOfTap<const float>{nullptr, offset - inner.pad_head, inner.stride, begin, end,
                                       inside});
      } while (Next(axes_ - 1, first, last, &index));
    } while (Next(axes_, Index{}, last_tap_, &tap));
  }
}

// NHWC. Calls function(pixel, count) for runs of taps that read neighbouring pixels with all their
// channels, in the order of the columns. `pixel` is the first of them, or -1 for padding.
template <class Run>
void ConvColumns::ForEachRunLast(int64_t row, int64_t count, const Run& function) const {
  const size_t last_axis = static_cast<size_t>(axes_ - 1);
  const WindowAxis& inner = shape_.window.axis[last_axis];
  const bool runs = shape_.group == 1 && inner.dilation == 1;
  Index first{}, last = last_out_;
  first[0] = row;
  last[0] = row + count;
  Index index = first;
  do {
    Index tap{};
    if (!runs) {
      do {
        function(Locate(index, tap, 0), 1);
      } while (Next(axes_, Index{}, last_tap_, &tap));
      continue;
    }
    const int64_t start = index[last_axis] * inner.stride - inner.pad_head;
    const int64_t begin = std::clamp<int64_t>(-start, 0, inner.kernel);
    const int64_t end = std::clamp(inner.in - start, begin, inner.kernel);
    do {
      const int64_t outer = Locate(index, tap, 1);
      if (outer < 0) {
        function(-1, inner.kernel);
        continue;
      }
      function(-1, begin);
      function(outer * inner.in + start + begin, end - begin);
      function(-1, inner.kernel - end);
    } while (Next(axes_ - 1, Index{}, last_tap_, &tap));
  } while (Next(axes_, first, last, &index));
}

void ConvColumns::Fill(const float* x, int64_t row, int64_t count, float* columns) const {
  const int64_t in_group = shape_.in_group(), channels = shape_.window.channels;
  if (shape_.channels_last()) {
    ForEachRunLast(row, count, [&](int64_t pixel, int64_t taps) {
      const int64_t floats = taps * in_group;
      if (pixel < 0) {
        std::fill_n(columns, floats, 0.f);
      } else {
        std::copy_n(x + pixel * channels, floats, columns);
      }
      columns += floats;
    });
    return;
  }
  ForEachRowFirst(row, count, [&](int64_t offset, RowOfTap<const float> of_tap) {
    if (offset >= 0) of_tap.x = x + offset;
    CopyRowOfTap(of_tap, columns);
    columns += of_tap.end - of_tap.begin;
  });
}

void ConvColumns::Add(const float* columns, int64_t row, int64_t count, float* x) const {
  const int64_t in_group = shape_.in_group(), channels = shape_.window.channels;
  if (shape_.channels_last()) {
    ForEachRunLast(row, count, [&](int64_t pixel, int64_t taps) {
      const int64_t floats = taps * in_group;
      if (pixel >= 0) {
        float* const to = x + pixel * channels;
        for (int64_t i = 0; i < floats; ++i) to[i] += columns[i];
      }
      columns += floats;
    });
    return;
  }
  ForEachRowFirst(row, count, [&](int64_t offset, const RowOfTap<const float>& of_tap) {
    AddRowOfTap(columns, {offset < 0 ? nullptr : x + offset, of_tap.shift, of_tap.stride,
                          of_tap.begin, of_tap.end, of_tap.inside});
    columns += of_tap.end - of_tap.begin;
  });
}

}  // namespace caffe2rt
