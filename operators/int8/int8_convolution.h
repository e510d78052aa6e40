#pragma once
// Int8Convolution: a two-dimensional convolution of quantized NHWC images.
//
// A convolution with one input and one output channel in each group (depthwise) adds its taps
// channel by channel. Any other is a matrix multiplication for each group, over rows that hold the
// taps of a pixel; rows that lie in the image as they are needed are not copied.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operators/int8/int8_depthwise.h"
#include "operators/int8/int8_operator.h"
#include "operators/int8/int8_product.h"
#include "operators/int8/int8_window.h"
#include "operators/int8/prepared_int8.h"

namespace caffe2rt {

// The sizes of a convolution.
struct Int8ConvShape {
  WindowGeometry window;
  int64_t group = 1;
  int64_t out_channels = 0;

  int64_t group_in() const { return window.channels / group; }
  int64_t group_out() const { return out_channels / group; }
  bool depthwise() const { return group_in() == 1 && group_out() == 1; }
  // Whether the row of a pixel of the output is a pixel of the input.
  bool direct() const;
};

class Int8Convolution {
 public:
  Int8Convolution();

  // THROWS if the filter does not match the shape of X.
  void Plan(const WindowArguments& window, IntArrayRef x, IntArrayRef filter);
  const Int8ConvShape& shape() const { return shape_; }
  // REQUIRES: Plan was called with the shapes of these tensors; Y is not empty. `bias` has an
  // element for each output channel.
  void Run(const QuantizedInput& x, const QuantizedInput& filter, const int32_t* bias,
           const Requantization& requantization, uint8_t* y);

  // Prepares the filter, so that the next run does not. REQUIRES as Run.
  void Prepare(const QuantizedInput& filter);

 private:
  size_t GroupBytes() const;
  const char* PrepareGroups(const QuantizedInput& filter, size_t group_bytes);
  const char* PrepareDepthwise(const QuantizedInput& filter);
  void RunGroups(const QuantizedInput& x, const QuantizedInput& filter, const int32_t* bias,
                 const Requantization& requantization, uint8_t* y);
  void RunDepthwise(const QuantizedInput& x, const QuantizedInput& filter, const int32_t* bias,
                    const Requantization& requantization, uint8_t* y);
  void DepthwiseRow(const Int8DepthwiseWeights& weights, const uint8_t* x, int64_t row,
                    int32_t* sums, const uint8_t** taps, const Requantization& requantization,
                    uint8_t* y);

  const Int8Isa isa_;
  Int8ConvShape shape_;
  PreparedInt8 groups_, depthwise_;
  std::vector<int32_t> start_;
  std::vector<uint8_t> padding_;  // a pixel of zeros
  ThreadScratch scratch_;
  std::vector<std::vector<const uint8_t*>> taps_;  // of depthwise convolutions, for each piece
};

}  // namespace caffe2rt
