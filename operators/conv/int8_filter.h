#pragma once
// Filters of signed bytes, with a scale for each output channel: w = q * scale.
//
// The functions are pure and thread safe. Results are the same on all machines.

#include <cstdint>

namespace caffe2rt {

struct Int8FilterSize {
  int64_t out = 0;   // output channels
  int64_t in = 0;    // input channels of each of them
  int64_t taps = 1;  // of the window
  // Machines without VNNI add the products of two adjacent input channels in 16 bits, with saturation.
  // With `pair_limited`, scales are so large that no two adjacent bytes of the same sign exceed 128
  // together: 128 products of a byte up to 255 fit into 16 bits.
  bool pair_limited = false;
  // Whether that holds for any two adjacent ones, not only for those that begin at an even one.
  bool any_pair = false;
};

// The scales of the output channels with which QuantizeFilter quantizes `filter`, [out, in, taps].
void FindFilterScales(const Int8FilterSize& size, const float* filter, float* scales);

// Quantizes `filter` to `bytes` of the same shape with given scales. `sums` are the sums of the bytes of the
// output channels. Numbers that were made of bytes and the same scales give these bytes again, which is not
// true of scales that are found in them.
void QuantizeFilterTo(const Int8FilterSize& size, const float* filter, const float* scales,
                      int8_t* bytes, float* sums);

// Quantizes `filter`, [out, in, taps], to `bytes` of the same shape. The `scales` are of the output
// channels, and `sums` the sums of their bytes. Values that are not finite count as 0.
void QuantizeFilter(const Int8FilterSize& size, const float* filter, int8_t* bytes, float* scales,
                    float* sums);

}  // namespace caffe2rt
