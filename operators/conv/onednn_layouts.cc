#include "operators/conv/onednn_layouts.h"

#include <array>

#include "contexts/onednn/onednn_library.h"

namespace caffe2rt {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

Tag FirstTag(int axes) { return axes == 1 ? Tag::ncw : axes == 2 ? Tag::nchw : Tag::ncdhw; }
Tag LastTag(int axes) { return axes == 1 ? Tag::nwc : axes == 2 ? Tag::nhwc : Tag::ndhwc; }
Tag BlockedTag(int axes) {
  return axes == 1 ? Tag::nCw16c : axes == 2 ? Tag::nChw16c : Tag::nCdhw16c;
}

}  // namespace

Tag PlainTag(const ConvShape& shape) {
  return shape.channels_last() ? LastTag(shape.window.axes) : FirstTag(shape.window.axes);
}

memory::dims SpatialDims(const ConvShape& shape, int64_t WindowAxis::*field) {
  memory::dims dims;
  for (int i = 0; i < shape.window.axes; ++i) {
    dims.push_back(shape.window.axis[static_cast<size_t>(i)].*field);
  }
  return dims;
}

memory::dims DataDims(const ConvShape& shape, int64_t channels, int64_t WindowAxis::*field) {
  memory::dims dims{shape.window.batch, channels};
  for (const auto dim : SpatialDims(shape, field)) dims.push_back(dim);
  return dims;
}

memory::dims FilterDims(const ConvShape& shape) {
  memory::dims dims;
  if (shape.group > 1) {
    dims = {shape.group, shape.out_group(), shape.in_group()};
  } else {
    dims = {shape.out_channels, shape.window.channels};
  }
  for (const auto dim : SpatialDims(shape, &WindowAxis::kernel)) dims.push_back(dim);
  return dims;
}

Tag FilterTag(const ConvShape& shape, bool channels_last) {
  const size_t i = static_cast<size_t>(shape.window.axes - 1);
  constexpr std::array<Tag, 3> kFirst = {Tag::oiw, Tag::oihw, Tag::oidhw};
  constexpr std::array<Tag, 3> kFirstGroups = {Tag::goiw, Tag::goihw, Tag::goidhw};
  constexpr std::array<Tag, 3> kLast = {Tag::owi, Tag::ohwi, Tag::odhwi};
  constexpr std::array<Tag, 3> kLastGroups = {Tag::gowi, Tag::gohwi, Tag::godhwi};
  if (channels_last) return shape.group > 1 ? kLastGroups[i] : kLast[i];
  return shape.group > 1 ? kFirstGroups[i] : kFirst[i];
}

OnednnLayouts LayoutsOf(ConvAlgorithm algorithm, const ConvShape& shape) {
  const int axes = shape.window.axes;
  const Tag plain = PlainTag(shape);
  const Tag blocked = BlockedTag(axes), last = LastTag(axes);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  switch (algorithm) {
    case ConvAlgorithm::kOnednnPlain:
      return {plain, plain, kDirect};
    case ConvAlgorithm::kOnednnBlocked:
      return {blocked, blocked, kDirect};
    case ConvAlgorithm::kOnednnLast:
      return {last, last, kDirect};
    case ConvAlgorithm::kOnednnMixed:
      return {plain, blocked, kDirect};
    case ConvAlgorithm::kOnednnWinograd:
      return {blocked, blocked, dnnl::algorithm::convolution_winograd};
    default:
      return {Tag::any, Tag::any, kDirect};
  }
}

// The tails are computed from the windows: with legacy padding they differ from the pad arguments.
OnednnWindows WindowsOf(const ConvShape& shape) {
  OnednnWindows windows;
  windows.strides = SpatialDims(shape, &WindowAxis::stride);
  windows.dilations = SpatialDims(shape, &WindowAxis::dilation);
  windows.heads = SpatialDims(shape, &WindowAxis::pad_head);
  for (auto& dilation : windows.dilations) --dilation;
  for (int i = 0; i < shape.window.axes; ++i) {
    const WindowAxis& axis = shape.window.axis[static_cast<size_t>(i)];
    windows.tails.push_back((axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.pad_head);
  }
  return windows;
}

bool OnednnCanDescribe(const ConvShape& shape) {
  if (shape.window.axes > 3) return false;
  for (int i = 0; i < shape.window.axes; ++i) {
    const WindowAxis& axis = shape.window.axis[static_cast<size_t>(i)];
    constexpr int64_t kMax = 1 << 24;
    if (axis.dilation < 1 || axis.in > kMax || axis.out > kMax || axis.extent() > kMax ||
        axis.pad_head < 0 || axis.pad_head > kMax || axis.stride > kMax) {
      return false;
    }
    // Only some implementations support a tail that crops. Windows that lie entirely in the padding
    // are rare and are left to other algorithms.
    const int64_t tail = (axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.pad_head;
    if (tail > kMax || tail <= -axis.stride || axis.pad_head >= axis.extent() ||
        tail >= axis.extent()) {
      return false;
    }
  }
  return shape.window.batch <= 65536 && shape.window.channels <= 65536 &&
         shape.out_channels <= 65536;
}

}  // namespace caffe2rt
