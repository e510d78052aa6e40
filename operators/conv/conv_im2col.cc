// Convolution by im2col and GEMM: any number of axes, any padding, cropping, dilation and groups,
// both layouts. Each column holds the inputs of one output. Columns are built for a few output rows
// at a time, as many as fit kColumnBudget, so that they stay in the cache.
#include <algorithm>
#include <array>

#include "caffe2_core/base/checked_math.h"
#include "operators/conv/conv_kernel.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

using Index = std::array<int64_t, kMaxWindowAxes>;

// Advances `index` within [first, last) on each of `axes` axes, the last axis fastest. Returns
// false at the end.
bool Next(int axes, const Index& first, const Index& last, Index* index) {
  for (int i = axes - 1; i >= 0; --i) {
    const size_t axis = static_cast<size_t>(i);
    if (++(*index)[axis] < last[axis]) return true;
    (*index)[axis] = first[axis];
  }
  return false;
}

// The range [first, last) of outputs whose tap at `offset` from the start of the window lies inside
// the axis.
struct Range {
  int64_t first, last;
};
Range InsideOutputs(const WindowAxis& axis, int64_t offset) {
  const int64_t shift = offset - axis.pad_head;  // input index of output 0
  const int64_t first = shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride;
  const int64_t last = shift >= axis.in ? 0 : (axis.in - 1 - shift) / axis.stride + 1;
  return {std::min(first, axis.out), std::max(std::min(last, axis.out), std::min(first, axis.out))};
}

class Im2ColConv final : public ConvKernel {
 public:
  explicit Im2ColConv(const ConvShape& shape)
      : shape_(shape),
        axes_(shape.window.axes),
        taps_(shape.window.kernel_size()),
        in_size_(shape.window.in_size()),
        out_size_(shape.window.out_size()),
        row_size_(out_size_ / std::max<int64_t>(shape.window.axis[0].out, 1)),
        depth_(CheckedMultiply(taps_, shape.in_group())),
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

  void Run(const float* x, const void* filter, const float* bias, float* y) override {
    float* columns =
        scratch_.Floats(CheckedMultiply(CheckedMultiply(depth_, row_size_), rows_at_once_));
    const int64_t rows = shape_.window.axis[0].out;
    for (int64_t image = 0; image < shape_.window.batch; ++image) {
      const float* from = x + image * shape_.window.channels * in_size_;
      float* to = y + image * shape_.out_channels * out_size_;
      for (int64_t row = 0; row < rows; row += rows_at_once_) {
        const int64_t count = std::min(rows_at_once_, rows - row);
        for (int64_t g = 0; g < shape_.group; ++g) {
          RunRows(from, static_cast<const float*>(filter), bias, to, g, row, count, columns);
        }
      }
    }
  }

 private:
  void RunRows(const float* x, const float* filter, const float* bias, float* y, int64_t g,
               int64_t row, int64_t count, float* columns) const {
    const int64_t in_group = shape_.in_group(), out_group = shape_.out_group();
    const int64_t pixels = count * row_size_;
    const float* w = filter + g * out_group * depth_;
    const float beta = bias != nullptr ? 1.f : 0.f;
    if (shape_.channels_last()) {
      LastColumns(x + g * in_group, row, count, columns);
      float* out = y + row * row_size_ * shape_.out_channels + g * out_group;
      if (bias != nullptr) {
        for (int64_t p = 0; p < pixels; ++p) {
          std::copy_n(bias + g * out_group, out_group, out + p * shape_.out_channels);
        }
      }
      Sgemm(false, true, pixels, out_group, depth_, 1.f, columns, depth_, w, depth_, beta, out,
            shape_.out_channels);
      return;
    }
    FirstColumns(x + g * in_group * in_size_, row, count, columns);
    float* out = y + g * out_group * out_size_ + row * row_size_;
    if (bias != nullptr) {
      for (int64_t m = 0; m < out_group; ++m) {
        std::fill_n(out + m * out_size_, pixels, bias[g * out_group + m]);
      }
    }
    Sgemm(false, false, out_group, pixels, depth_, 1.f, w, depth_, columns, pixels, beta, out,
          out_size_);
  }

  // Returns the flat input index for output `index` and tap `tap` over all axes but the last
  // `skip`, or -1 if it lies outside.
  int64_t Locate(const Index& index, const Index& tap, int skip) const {
    int64_t position = 0;
    for (size_t i = 0; i < static_cast<size_t>(axes_ - skip); ++i) {
      const WindowAxis& axis = shape_.window.axis[i];
      const int64_t at = index[i] * axis.stride + tap[i] * axis.dilation - axis.pad_head;
      if (at < 0 || at >= axis.in) return -1;
      position = position * axis.in + at;
    }
    return position;
  }

  // NCHW. Writes columns [in_group * taps, pixels].
  void FirstColumns(const float* x, int64_t row, int64_t count, float* columns) const {
    const WindowAxis& inner = shape_.window.axis[static_cast<size_t>(axes_ - 1)];
    const bool single = axes_ == 1;
    Index first{}, last = last_out_;
    first[0] = row;
    last[0] = row + count;
    for (int64_t c = 0; c < shape_.in_group(); ++c, x += in_size_) {
      Index tap{};
      do {
        Range range = InsideOutputs(inner, tap[static_cast<size_t>(axes_ - 1)] * inner.dilation);
        const int64_t begin = single ? row : 0, end = single ? row + count : inner.out;
        range.first = std::clamp(range.first, begin, end);
        range.last = std::clamp(range.last, range.first, end);
        const int64_t shift = tap[static_cast<size_t>(axes_ - 1)] * inner.dilation - inner.pad_head;
        Index index = first;
        do {
          const int64_t outer = Locate(index, tap, 1);
          if (outer < 0) {
            std::fill_n(columns, end - begin, 0.f);
          } else {
            FillRow(x + outer * inner.in, shift, inner.stride, begin, range, end, columns);
          }
          columns += end - begin;
        } while (Next(axes_ - 1, first, last, &index));
      } while (Next(axes_, Index{}, last_tap_, &tap));
    }
  }

  static void FillRow(const float* x, int64_t shift, int64_t stride, int64_t begin, Range range,
                      int64_t end, float* to) {
    std::fill_n(to, range.first - begin, 0.f);
    if (stride == 1) {
      std::copy_n(x + range.first + shift, range.last - range.first, to + (range.first - begin));
    } else {
      for (int64_t o = range.first; o < range.last; ++o) to[o - begin] = x[o * stride + shift];
    }
    std::fill_n(to + (range.last - begin), end - range.last, 0.f);
  }

  // NHWC. Writes columns [pixels, taps * in_group].
  void LastColumns(const float* x, int64_t row, int64_t count, float* columns) const {
    const int64_t in_group = shape_.in_group(), channels = shape_.window.channels;
    Index first{}, last = last_out_;
    first[0] = row;
    last[0] = row + count;
    Index index = first;
    do {
      Index tap{};
      do {
        const int64_t at = Locate(index, tap, 0);
        if (at < 0) {
          std::fill_n(columns, in_group, 0.f);
        } else {
          std::copy_n(x + at * channels, in_group, columns);
        }
        columns += in_group;
      } while (Next(axes_, Index{}, last_tap_, &tap));
    } while (Next(axes_, first, last, &index));
  }

  const ConvShape shape_;
  const int axes_;
  const int64_t taps_, in_size_, out_size_;
  const int64_t row_size_;  // outputs for one index of the first axis
  const int64_t depth_;     // terms of the sum for one output
  const int64_t rows_at_once_;
  Index last_out_, last_tap_;
  ThreadScratch scratch_;
};

}  // namespace

std::unique_ptr<ConvKernel> NewIm2ColConv(const ConvShape& shape) {
  return std::make_unique<Im2ColConv>(shape);
}

}  // namespace caffe2rt
