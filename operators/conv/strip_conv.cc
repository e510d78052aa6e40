#include "operators/conv/strip_conv.h"

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

namespace {
constexpr int64_t kStripBudget = 1 << 17;  // floats; half of a 1 MiB second-level cache
}

StripConv::StripConv(const ConvShape& shape, const ImageAxes& axes, bool direct, int64_t phases)
    : shape_(shape),
      axes_(axes),
      direct_(direct),
      rows_(axes, shape.window.channels, phases, kStripBudget),
      strips_(direct ? 1 : rows_.strips()),
      pieces_(static_cast<int>(std::min<int64_t>(shape.window.batch * strips_, GetNumThreads()))) {
  for (int64_t i = 0; i < axes.rows.kernel; ++i) {
    for (int64_t j = 0; j < axes.columns.kernel; ++j) {
      taps_.push_back(direct ? i * axes.rows.dilation * axes.columns.in + j * axes.columns.dilation
                             : rows_.TapOffset(i, j));
    }
  }
}

void StripConv::Run(const float* x, const void* filter, const float* bias, float* y,
                    PieceScratch scratch) {
  const int64_t in_plane = axes_.rows.in * axes_.columns.in;
  const int64_t out_plane = axes_.rows.out * axes_.columns.out;
  const int64_t jobs = shape_.window.batch * strips_;
  ParallelFor(pieces_, [&](int piece) {
    for (int64_t job = jobs * piece / pieces_; job < jobs * (piece + 1) / pieces_; ++job) {
      const int64_t image = job / strips_, first = job % strips_ * strip_rows();
      ConvStrip strip;
      strip.x = x + image * shape_.window.channels * in_plane;
      strip.channel_stride = in_plane;
      strip.row_stride = row_stride();
      strip.y = y + image * shape_.out_channels * out_plane + first * axes_.columns.out;
      strip.rows = std::min(strip_rows(), axes_.rows.out - first);
      if (!direct_) {
        float* const copy = scratch[piece];
        rows_.Copy(strip.x, first, strip.rows, copy);
        strip.x = copy;
        strip.channel_stride = rows_.channel_size();
      }
      RunStrip(strip, static_cast<const float*>(filter), bias);
    }
  });
}

}  // namespace caffe2rt
