#pragma once
// The windows of convolutions of bytes, without their zero point; padding is 0.

#include <algorithm>
#include <cstdint>

#include "operators/common/window_attributes.h"

namespace caffe2rt {

// Pixels [first, last) of the output as rows [pixel, channel, tap] of the input of one group.
template <class T>
void IntegerColumns(const Windows& windows, const T* x, int64_t channels, int32_t zero,
                    int64_t first, int64_t last, int16_t* rows) {
  const WindowAxis &d = windows.axis[0], &h = windows.axis[1], &w = windows.axis[2];
  const int64_t depth = channels * windows.taps(), plane = windows.in_size();
  int64_t at = 0;
  for (int64_t c = 0; c < channels; ++c, x += plane) {
    for (int64_t i = 0; i < d.kernel; ++i) {
      for (int64_t j = 0; j < h.kernel; ++j) {
        for (int64_t k = 0; k < w.kernel; ++k, ++at) {
          int64_t column = first % w.out, row = first / w.out % h.out,
                  slice = first / w.out / h.out;
          int16_t* to = rows + at;
          for (int64_t p = first; p < last; ++p, to += depth) {
            const int64_t z = slice * d.stride - d.pad_head + i * d.dilation;
            const int64_t y = row * h.stride - h.pad_head + j * h.dilation;
            const int64_t v = column * w.stride - w.pad_head + k * w.dilation;
            const bool inside = z >= 0 && z < d.in && y >= 0 && y < h.in && v >= 0 && v < w.in;
            *to = inside ? static_cast<int16_t>(x[(z * h.in + y) * w.in + v] - zero) : int16_t{0};
            if (++column < w.out) continue;
            column = 0;
            if (++row < h.out) continue;
            row = 0;
            ++slice;
          }
        }
      }
    }
  }
}

// One channel of a depthwise convolution: sums [out_size].
template <class T>
void IntegerDepthwiseSums(const Windows& windows, const T* x, int32_t zero, const int16_t* filter,
                          int32_t* sums) {
  const WindowAxis &d = windows.axis[0], &h = windows.axis[1], &w = windows.axis[2];
  std::fill_n(sums, windows.out_size(), 0);
  for (int64_t slice = 0; slice < d.out; ++slice) {
    for (int64_t row = 0; row < h.out; ++row, sums += w.out) {
      const int16_t* tap = filter;
      for (int64_t i = 0; i < d.kernel; ++i) {
        const int64_t z = slice * d.stride - d.pad_head + i * d.dilation;
        for (int64_t j = 0; j < h.kernel; ++j, tap += w.kernel) {
          const int64_t y = row * h.stride - h.pad_head + j * h.dilation;
          if (z < 0 || z >= d.in || y < 0 || y >= h.in) continue;
          const T* from = x + (z * h.in + y) * w.in;
          for (int64_t k = 0; k < w.kernel; ++k) {
            const int64_t shift = k * w.dilation - w.pad_head;
            const int64_t begin =
                shift >= 0 ? 0 : std::min((-shift + w.stride - 1) / w.stride, w.out);
            const int64_t end = std::clamp<int64_t>(
                shift >= w.in ? 0 : (w.in - 1 - shift) / w.stride + 1, begin, w.out);
            const int32_t factor = tap[k];
            for (int64_t p = begin; p < end; ++p) {
              const int32_t value = static_cast<int32_t>(from[p * w.stride + shift]) - zero;
              sums[p] = static_cast<int32_t>(static_cast<uint32_t>(sums[p]) +
                                             static_cast<uint32_t>(factor * value));
            }
          }
        }
      }
    }
  }
}

}  // namespace caffe2rt
