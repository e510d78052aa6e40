#pragma once
// A convolution in oneDNN's words: dimensions, layouts and which shapes its descriptors can say.
// Plain functions; thread safe.

#include <dnnl.hpp>

#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

// One entry an axis; with batch and channels before; of the filter, with groups before when there
// are more than one.
dnnl::memory::dims SpatialDims(const ConvShape& shape, int64_t WindowAxis::*field);
dnnl::memory::dims DataDims(const ConvShape& shape, int64_t channels, int64_t WindowAxis::*field);
dnnl::memory::dims FilterDims(const ConvShape& shape);

// Data with channels last or first, as tensors have it.
dnnl::memory::format_tag PlainTag(const ConvShape& shape);
// The filter as it lies in the file, or with channels in the order asked for.
dnnl::memory::format_tag FilterTag(const ConvShape& shape, bool channels_last);

struct OnednnLayouts {
  dnnl::memory::format_tag source, result;
  dnnl::algorithm algorithm;
};
OnednnLayouts LayoutsOf(ConvAlgorithm algorithm, const ConvShape& shape);

// Whether oneDNN's descriptors can say the shape, and its implementations are known to be right on
// it.
bool OnednnCanDescribe(const ConvShape& shape);

}  // namespace caffe2rt
