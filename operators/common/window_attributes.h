#pragma once
// The windows of operators with ONNX's attributes (kernel_shape, strides, pads, dilations, auto_pad,
// ceil_mode), over one to three spatial axes; conv_geometry.h has those of Caffe2's arguments.
//
//   const WindowAttributes attributes_(args);                        // once, in the constructor
//   WindowsOf(attributes_, X.sizes(), kernel, &windows);             // when a shape changes
//
// All values are checked, so that no later arithmetic on positions overflows.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/common/window_geometry.h"

namespace caffe2rt {

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

struct WindowAttributes {
  // One entry for each axis, or empty: not given.
  std::vector<int64_t> kernel_shape, strides, dilations;
  std::vector<int64_t> pads;  // the heads of all axes, then the tails
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;

  // THROWS if a value is out of range.
  explicit WindowAttributes(const ArgumentHelper& args);
};

// Three axes, outermost first; the first ones have size 1 if the tensor has fewer spatial axes.
struct Windows {
  int64_t batch = 0, channels = 0;
  int axes = 0;  // of the tensor
  std::array<WindowAxis, 3> axis;

  int64_t in_size() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out_size() const { return axis[0].out * axis[1].out * axis[2].out; }
  int64_t taps() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
};

// The windows over a tensor of shape `dims` [N, C, spatial...]. `kernel` has one size for each
// spatial axis. THROWS if lists have other lengths, or if a window does not fit into its axis.
void WindowsOf(const WindowAttributes& attributes, IntArrayRef dims, IntArrayRef kernel,
               Windows* windows);
// The axes alone, without the sizes of the output: for transposed convolutions.
void WindowAxesOf(const WindowAttributes& attributes, IntArrayRef dims, IntArrayRef kernel,
                  Windows* windows);
// [batch, channels, out...]
void WindowOutputDims(const Windows& windows, int64_t channels, std::vector<int64_t>* dims);

// Declares kernel_shape, strides, pads, dilations and auto_pad; ceil_mode for pools.
void DeclareWindowAttributes(OpSchema& schema, bool pool);

}  // namespace caffe2rt
