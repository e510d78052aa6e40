#pragma once
// Describes a convolution to oneDNN: dimensions, layouts, and which shapes its descriptors can
// express. The functions are pure and thread safe.

#include <dnnl.hpp>

#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

// SpatialDims returns one entry for each axis. DataDims adds batch and channels in front.
// FilterDims returns [out, in, kernel...], with the groups in front if there are more than one.
dnnl::memory::dims SpatialDims(const ConvShape& shape, int64_t WindowAxis::*field);
dnnl::memory::dims DataDims(const ConvShape& shape, int64_t channels, int64_t WindowAxis::*field);
dnnl::memory::dims FilterDims(const ConvShape& shape);

// The layout of X and Y: channels first or last, as the tensors have them.
dnnl::memory::format_tag PlainTag(const ConvShape& shape);
// The layout of the filter, with channels last or first.
dnnl::memory::format_tag FilterTag(const ConvShape& shape, bool channels_last);

struct OnednnLayouts {
  dnnl::memory::format_tag source, result;
  dnnl::algorithm algorithm;
};
OnednnLayouts LayoutsOf(ConvAlgorithm algorithm, const ConvShape& shape);

struct OnednnWindows {
  dnnl::memory::dims strides, dilations, heads, tails;
};
OnednnWindows WindowsOf(const ConvShape& shape);

// Whether oneDNN's descriptors can express the shape and its implementations are known to be
// correct for it.
bool OnednnCanDescribe(const ConvShape& shape);

}  // namespace caffe2rt
