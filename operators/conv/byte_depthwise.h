#pragma once
// Depthwise convolution of images of bytes (u8) in NHWC with a filter of signed bytes. Built-in kernel for
// AVX2 and VNNI: oneDNN's is slower than that of floats.
//
//   ByteDepthwise conv{...};                                     // once for each shape
//   if (!ByteDepthwiseFits(conv)) ...
//   PrepareByteDepthwise(conv, filter, prepared);                // ByteDepthwiseFilterBytes(conv)
//   ScaleByteDepthwise(conv, prepared, bias, scales);            // ByteDepthwiseScales(conv)
//   RunByteDepthwise(conv, x, prepared, scales, y);
//
// For each channel, Y = clamp((sum of products of bytes) * factor + offset, lowest, highest), where the
// products are added as integers, the factor holds the scales of X and of the filter, and the offset the
// bias and the zero point of X. Padding stands for 0: its bytes are the zero point. Results are the same for
// every number of threads, and with `pair_limited` on all machines. All functions are thread safe.

#include <cstdint>
#include <limits>

#include "contexts/onednn/onednn_quantization.h"
#include "operators/common/window_geometry.h"
#include "operators/conv/byte_depthwise_tiles.h"

namespace caffe2rt {

struct ByteDepthwise {
  int64_t batch = 0, channels = 0;
  WindowAxis rows, columns;  // `in` is the height and the width of X
  OnednnQuantization x;
  ByteResult result = ByteResult::kFloats;
  OnednnQuantization y = {};  // of kBytes
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  // Whether the filter is quantized for machines without VNNI (int8_filter.h).
  bool pair_limited = false;
};

// Whether the tiles cover the windows: 3 x 3 or 5 x 5 taps, stride 1 or 2, no dilation; at least 16 channels.
bool ByteTilesCover(int64_t channels, const WindowAxis& rows, const WindowAxis& columns);
// The same on this machine, which needs AVX2.
bool ByteDepthwiseFits(const ByteDepthwise& conv);

// The bytes of the prepared filter, and the floats of the scales. REQUIRES of these and the following:
// ByteDepthwiseFits.
int64_t ByteDepthwiseFilterBytes(const ByteDepthwise& conv);
int64_t ByteDepthwiseScales(const ByteDepthwise& conv);

// `filter` is [channels][1][kernel rows][kernel columns], `prepared` aligned to 4 bytes.
void PrepareByteDepthwise(const ByteDepthwise& conv, const float* filter, void* prepared);
// `bias` has a float for each channel, or is null.
void ScaleByteDepthwise(const ByteDepthwise& conv, const void* prepared, const float* bias,
                        float* scales);
// x and y do not overlap. y is in NHWC.
void RunByteDepthwise(const ByteDepthwise& conv, const uint8_t* x, const void* prepared,
                      const float* scales, void* y);

}  // namespace caffe2rt
