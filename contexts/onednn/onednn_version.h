#pragma once
// What differs between the interfaces of oneDNN 2 and oneDNN 3. No other file tests the version.
//
//   const auto desc = NewPrimitiveDesc<dnnl::convolution_forward>(attributes, kind, algorithm,
//                                                                 src, weights, dst, ...);
//   const dnnl::memory::dims dims = DimsOf(desc.src_desc());
//
// The functions allocate: an operator calls them when it plans for new shapes. Thread safe. All of
// them THROW dnnl::error if oneDNN fails.

#include <dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "contexts/onednn/onednn_library.h"

namespace caffe2rt {

// The version of the library that runs, for example "2.6.3".
std::string OnednnVersion();

dnnl::memory::dims DimsOf(const dnnl::memory::desc& desc);
dnnl::memory::data_type DataTypeOf(const dnnl::memory::desc& desc);

// A descriptor of the format kind `blocked`, which includes all strided layouts. The first three
// have an element for each axis. `inner_blocks` are the sizes of the adjacent blocks, outermost
// first, and `inner_axes` their axes.
struct OnednnBlocking {
  dnnl::memory::dims dims, padded_dims, strides;
  dnnl::memory::dims inner_blocks, inner_axes;
  int64_t offset = 0;  // of the first element

  // The number of adjacent elements along an axis.
  int64_t InnerSize(size_t axis) const;
};
// Empty if the descriptor has another format kind, or data beside its elements.
std::optional<OnednnBlocking> BlockingOf(const dnnl::memory::desc& desc);

// A text that names element type, sizes and layout. Two descriptors with one name place every
// element at the same address. Empty if the layout cannot be named completely.
std::optional<std::string> OnednnLayoutName(const dnnl::memory::desc& desc);

// Whether attributes can hold scales: those of oneDNN 3 are arguments of each run, which are not
// implemented here.
inline constexpr bool kOnednnHoldsScales = DNNL_VERSION_MAJOR < 3;
// Multiplies the sums of products of a convolution, with the bias, by a number for each channel. THROWS
// dnnl::error unless kOnednnHoldsScales.
void SetChannelScales(const std::vector<float>& scales, dnnl::primitive_attr* attributes);

void AppendEltwise(dnnl::algorithm algorithm, float alpha, float beta, dnnl::post_ops* ops);

#if DNNL_VERSION_MAJOR < 3

// A primitive descriptor on the CPU engine. `arguments` are those of the operation.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc NewPrimitiveDesc(const dnnl::primitive_attr& attributes,
                                                    const Arguments&... arguments) {
  return {typename Primitive::desc(arguments...), attributes, OnednnEngine()};
}
// The same for a gradient. `forward` describes the primitive that is differentiated.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc NewGradientDesc(const dnnl::primitive_attr& attributes,
                                                   const Forward& forward,
                                                   const Arguments&... arguments) {
  return {typename Primitive::desc(arguments...), attributes, OnednnEngine(), forward};
}

#else

template <class Primitive, class... Arguments>
typename Primitive::primitive_desc NewPrimitiveDesc(const dnnl::primitive_attr& attributes,
                                                    const Arguments&... arguments) {
  return {OnednnEngine(), arguments..., attributes};
}
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc NewGradientDesc(const dnnl::primitive_attr& attributes,
                                                   const Forward& forward,
                                                   const Arguments&... arguments) {
  return {OnednnEngine(), arguments..., forward, attributes};
}

#endif

// Inference with square windows over the two axes of an image.
dnnl::pooling_forward::primitive_desc NewPoolDesc(dnnl::algorithm algorithm,
                                                  const dnnl::memory::desc& x,
                                                  const dnnl::memory::desc& y, int64_t kernel,
                                                  int64_t stride, int64_t pad);
// Inference across channels.
dnnl::lrn_forward::primitive_desc NewLrnDesc(const dnnl::memory::desc& x, int64_t size, float alpha,
                                             float beta, float bias);

}  // namespace caffe2rt
