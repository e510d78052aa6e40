#include "operators/conv/padded_rows.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

namespace {
// Number of floats that the last vector loads of a strip may read past its end.
constexpr int64_t kReadBeyond = 256;
}  // namespace

bool AsImage(const ConvShape& shape, ImageAxes* axes) {
  const WindowGeometry& window = shape.window;
  if (window.axes > 2) return false;
  axes->rows = window.axes == 2 ? window.axis[0] : WindowAxis();
  axes->columns = window.axes == 2 ? window.axis[1] : window.axis[0];
  return true;
}

PaddedRows::PaddedRows(const ImageAxes& axes, int64_t channels, int64_t phases, int64_t budget)
    : axes_(axes), channels_(channels), phases_(phases) {
  const WindowAxis& columns = axes.columns;
  const int64_t width =
      CheckedAdd(CheckedMultiply(columns.out - 1, columns.stride), columns.extent());
  run_ = (width + phases - 1) / phases;
  strip_ = 1;
  const auto strip_size = [&] {
    return CheckedMultiply(CheckedMultiply(RowsFor(strip_), row_size()), channels_);
  };
  const int64_t one = strip_size();
  const int64_t per_row = CheckedMultiply(
      CheckedMultiply(std::min(axes.rows.stride, axes.rows.in), row_size()), channels_);
  if (one < budget && axes.rows.out > 1) {
    strip_ = std::min(axes.rows.out, 1 + (budget - one) / std::max<int64_t>(per_row, 1));
  }
  size_ = CheckedAdd(strip_size(), kReadBeyond);
}

int64_t PaddedRows::RowsFor(int64_t count) const {
  return CheckedAdd(CheckedMultiply(count - 1, axes_.rows.stride), axes_.rows.extent());
}

int64_t PaddedRows::TapOffset(int64_t i, int64_t j) const {
  const int64_t column = j * axes_.columns.dilation;
  return i * axes_.rows.dilation * row_size() + column % phases_ * run_ + column / phases_;
}

void PaddedRows::CopyRow(const float* row, float* to) const {
  const int64_t width = axes_.columns.in, head = axes_.columns.pad_head;
  for (int64_t phase = 0; phase < phases_; ++phase, to += run_) {
    // Entry i of the run is pixel i * phases + phase - head of the row.
    const int64_t shift = phase - head;
    const int64_t first = std::min(run_, shift >= 0 ? 0 : (-shift + phases_ - 1) / phases_);
    const int64_t last =
        std::clamp(shift >= width ? 0 : (width - 1 - shift) / phases_ + 1, first, run_);
    std::fill_n(to, first, 0.f);
    if (phases_ == 1) {
      if (last > first) std::copy_n(row + first + shift, last - first, to + first);
    } else if (phases_ == 2) {
      for (int64_t i = first; i < last; ++i) to[i] = row[2 * i + shift];
    } else {
      for (int64_t i = first; i < last; ++i) to[i] = row[i * phases_ + shift];
    }
    std::fill_n(to + last, run_ - last, 0.f);
  }
}

void PaddedRows::Copy(const float* x, int64_t first, int64_t count, float* strip) const {
  const int64_t rows = RowsFor(count), height = axes_.rows.in, width = axes_.columns.in;
  const int64_t top = first * axes_.rows.stride - axes_.rows.pad_head;
  for (int64_t c = 0; c < channels_; ++c) {
    const float* plane = x + c * height * width;
    float* to = strip + c * channel_size();
    for (int64_t r = 0; r < rows; ++r, to += row_size()) {
      const int64_t at = top + r;
      if (at < 0 || at >= height) {
        std::fill_n(to, row_size(), 0.f);
      } else {
        CopyRow(plane + at * width, to);
      }
    }
  }
}

}  // namespace caffe2rt
