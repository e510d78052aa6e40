#include "contexts/onednn/onednn_version.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace caffe2rt {

using dnnl::memory;

std::string OnednnVersion() {
  const dnnl_version_t* const version = dnnl_version();
  return absl::StrCat(version->major, ".", version->minor, ".", version->patch);
}

int64_t OnednnBlocking::InnerSize(size_t axis) const {
  int64_t size = 1;
  for (size_t i = 0; i < inner_blocks.size(); ++i) {
    if (inner_axes[i] == static_cast<int64_t>(axis)) size *= inner_blocks[i];
  }
  return size;
}

namespace {

// 64x3x7x7 stands for the sizes of four axes.
std::string SizesText(const memory::dims& sizes) { return absl::StrJoin(sizes, "x"); }

// "16b4a": blocks of 16 along axis 1, in them blocks of 4 along axis 0.
std::string BlocksText(const OnednnBlocking& blocking) {
  std::string text;
  for (size_t i = 0; i < blocking.inner_blocks.size(); ++i) {
    const char axis = static_cast<char>('a' + blocking.inner_axes[i]);
    absl::StrAppend(&text, blocking.inner_blocks[i], std::string(1, axis));
  }
  return text;
}

std::string BlockingText(const OnednnBlocking& blocking) {
  // The stride of a single block is never used.
  memory::dims strides = blocking.strides;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (blocking.padded_dims[i] == blocking.InnerSize(i)) strides[i] = 0;
  }
  std::string text = absl::StrCat(SizesText(blocking.dims), " strides ", SizesText(strides));
  if (blocking.padded_dims != blocking.dims) {
    absl::StrAppend(&text, " padded ", SizesText(blocking.padded_dims));
  }
  if (!blocking.inner_blocks.empty()) absl::StrAppend(&text, " blocks ", BlocksText(blocking));
  if (blocking.offset != 0) absl::StrAppend(&text, " offset ", blocking.offset);
  return text;
}

// All types that the library uses; empty for the others.
std::string TypeText(memory::data_type type) {
  switch (type) {
    case memory::data_type::f32:
      return "f32";
    case memory::data_type::s32:
      return "s32";
    case memory::data_type::s8:
      return "s8";
    case memory::data_type::u8:
      return "u8";
    case memory::data_type::bf16:
      return "bf16";
    default:
      return "";
  }
}

}  // namespace

#if DNNL_VERSION_MAJOR < 3

memory::dims DimsOf(const memory::desc& desc) { return desc.dims(); }

memory::data_type DataTypeOf(const memory::desc& desc) { return desc.data_type(); }

std::optional<OnednnBlocking> BlockingOf(const memory::desc& desc) {
  const dnnl_memory_desc_t& data = desc.data;
  if (data.format_kind != dnnl_blocked || data.extra.flags != dnnl_memory_extra_flag_none) {
    return std::nullopt;
  }
  const size_t rank = static_cast<size_t>(data.ndims);
  if (std::any_of(data.padded_offsets, data.padded_offsets + rank,
                  [](dnnl_dim_t offset) { return offset != 0; })) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  const int blocks = blocking.inner_nblks;
  return OnednnBlocking{.dims = {data.dims, data.dims + rank},
                        .padded_dims = {data.padded_dims, data.padded_dims + rank},
                        .strides = {blocking.strides, blocking.strides + rank},
                        .inner_blocks = {blocking.inner_blks, blocking.inner_blks + blocks},
                        .inner_axes = {blocking.inner_idxs, blocking.inner_idxs + blocks},
                        .offset = data.offset0};
}

namespace {

// The filters of oneDNN's Winograd convolutions.
std::optional<std::string> WinogradText(const memory::desc& desc) {
  const dnnl_memory_desc_t& data = desc.data;
  if (data.format_kind != dnnl_format_kind_wino ||
      data.extra.flags != dnnl_memory_extra_flag_none || data.offset0 != 0) {
    return std::nullopt;
  }
  const dnnl_wino_desc_t& wino = data.format_desc.wino_desc;
  return absl::StrCat(SizesText(desc.dims()), " wino ", static_cast<int>(wino.wino_format), " r ",
                      wino.r, " alpha ", wino.alpha, " ic ", wino.ic, " oc ", wino.oc, " blocks ",
                      wino.ic_block, " ", wino.oc_block, " ", wino.ic2_block, " ", wino.oc2_block,
                      " scale ", wino.adj_scale, " bytes ", wino.size);
}

}  // namespace

void SetChannelScales(const std::vector<float>& scales, dnnl::primitive_attr* attributes) {
  constexpr int kChannels = 1 << 1;
  attributes->set_output_scales(kChannels, scales);
}

void AppendEltwise(dnnl::algorithm algorithm, float alpha, float beta, dnnl::post_ops* ops) {
  ops->append_eltwise(1.0f, algorithm, alpha, beta);
}

dnnl::pooling_forward::primitive_desc NewPoolDesc(dnnl::algorithm algorithm, const memory::desc& x,
                                                  const memory::desc& y, int64_t kernel,
                                                  int64_t stride, int64_t pad) {
  const memory::dims strides(2, stride), kernels(2, kernel), pads(2, pad);
  return NewPrimitiveDesc<dnnl::pooling_forward>({}, dnnl::prop_kind::forward_inference, algorithm,
                                                 x, y, strides, kernels, pads, pads);
}

dnnl::lrn_forward::primitive_desc NewLrnDesc(const memory::desc& x, int64_t size, float alpha,
                                             float beta, float bias) {
  return NewPrimitiveDesc<dnnl::lrn_forward>({}, dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::lrn_across_channels, x, size, alpha,
                                             beta, bias);
}

#else

memory::dims DimsOf(const memory::desc& desc) { return desc.get_dims(); }

memory::data_type DataTypeOf(const memory::desc& desc) { return desc.get_data_type(); }

// oneDNN 3 does not show data beside the elements, such as sums for quantized filters. Only
// filters of 8-bit integers have any.
std::optional<OnednnBlocking> BlockingOf(const memory::desc& desc) {
  if (desc.get_format_kind() != memory::format_kind::blocked ||
      desc.get_data_type() == memory::data_type::s8) {
    return std::nullopt;
  }
  const memory::dims offsets = desc.get_padded_offsets();
  if (std::any_of(offsets.begin(), offsets.end(), [](int64_t offset) { return offset != 0; })) {
    return std::nullopt;
  }
  OnednnBlocking blocking{.dims = desc.get_dims(),
                          .padded_dims = desc.get_padded_dims(),
                          .strides = desc.get_strides(),
                          .inner_blocks = {},
                          .inner_axes = {},
                          .offset = desc.get_submemory_offset()};
  if (desc.get_inner_nblks() > 0) {
    blocking.inner_blocks = desc.get_inner_blks();
    blocking.inner_axes = desc.get_inner_idxs();
  }
  return blocking;
}

namespace {

// oneDNN 3 does not show the parameters of these layouts.
std::optional<std::string> WinogradText(const memory::desc&) { return std::nullopt; }

}  // namespace

void SetChannelScales(const std::vector<float>&, dnnl::primitive_attr*) {
  throw dnnl::error(dnnl_unimplemented, "scales in attributes");
}

void AppendEltwise(dnnl::algorithm algorithm, float alpha, float beta, dnnl::post_ops* ops) {
  ops->append_eltwise(algorithm, alpha, beta);
}

dnnl::pooling_forward::primitive_desc NewPoolDesc(dnnl::algorithm algorithm, const memory::desc& x,
                                                  const memory::desc& y, int64_t kernel,
                                                  int64_t stride, int64_t pad) {
  const memory::dims strides(2, stride), kernels(2, kernel), dilations(2, 0), pads(2, pad);
  return NewPrimitiveDesc<dnnl::pooling_forward>({}, dnnl::prop_kind::forward_inference, algorithm,
                                                 x, y, strides, kernels, dilations, pads, pads);
}

dnnl::lrn_forward::primitive_desc NewLrnDesc(const memory::desc& x, int64_t size, float alpha,
                                             float beta, float bias) {
  return NewPrimitiveDesc<dnnl::lrn_forward>({}, dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::lrn_across_channels, x, x, size,
                                             alpha, beta, bias);
}

#endif

std::optional<std::string> OnednnLayoutName(const memory::desc& desc) {
  const std::string type = TypeText(DataTypeOf(desc));
  if (type.empty()) return std::nullopt;
  const std::optional<OnednnBlocking> blocking = BlockingOf(desc);
  const std::optional<std::string> layout = blocking ? BlockingText(*blocking) : WinogradText(desc);
  if (!layout) return std::nullopt;
  return absl::StrCat(type, " ", *layout);
}

}  // namespace caffe2rt
