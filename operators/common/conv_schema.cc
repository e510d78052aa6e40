// Shared parts of the schemas of convolutions and pools: argument declarations and shape inference.

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "operators/common/conv_geometry.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/common/window_arguments.h"

namespace caffe2rt {

namespace {

// THROWS unless the filter, which is for `channels` channels of X, fits X and the kernel arguments.
void CheckFilter(const WindowArguments& window, const WindowGeometry& geometry,
                 const std::vector<int64_t>& filter, int64_t channels) {
  CAFFE_ENFORCE_EQ(channels, geometry.channels, "input 1 (filter) of shape ", filter,
                   " is for another number of channels than input 0 (X) has, with group ",
                   window.group);
  const size_t first = window.order == StorageOrder::NHWC ? 1 : 2;
  for (int i = 0; i < geometry.axes; ++i) {
    CAFFE_ENFORCE_EQ(filter[first + static_cast<size_t>(i)],
                     geometry.axis[static_cast<size_t>(i)].kernel, "axis ", i,
                     " of input 1 (filter) of shape ", filter, ", want the kernel argument");
  }
}

std::vector<TensorShape> InferWithFilter(const OperatorDef& def, const std::vector<TensorShape>& in,
                                         WindowUse use) {
  if (in.size() < 2 || !IsKnown(in[0])) return {UnknownShape()};
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), use);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  if (!IsKnown(in[1])) return {UnknownShape()};
  const std::vector<int64_t> filter = GetDimsVector(in[1]);
  CAFFE_ENFORCE_EQ(filter.size(), static_cast<size_t>(geometry.axes) + 2,
                   "rank of input 1 (filter), want that of input 0 (X)");
  const bool transposed = use == WindowUse::kConvTranspose;
  const int64_t in_group = window.order == StorageOrder::NHWC ? filter.back() : filter[1];
  CheckFilter(window, geometry, filter,
              transposed ? filter[0] : CheckedMultiply(in_group, window.group));
  const int64_t channels = transposed ? CheckedMultiply(in_group, window.group) : filter[0];
  return {CreateTensorShape(geometry.OutputDims(channels), in[0].data_type())};
}

std::vector<TensorShape> InferPool(const OperatorDef& def, const std::vector<TensorShape>& in,
                                   WindowUse use) {
  if (in.empty() || !IsKnown(in[0])) return {UnknownShape()};
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), use);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  return {CreateTensorShape(geometry.OutputDims(geometry.channels), in[0].data_type())};
}

}  // namespace

std::vector<TensorShape> InferPoolShape(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  return InferPool(def, in, WindowUse::kPool);
}

std::vector<TensorShape> InferWidePoolShape(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  return InferPool(def, in, WindowUse::kWidePool);
}

std::vector<TensorShape> InferConvShape(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  return InferWithFilter(def, in, WindowUse::kConv);
}

std::vector<TensorShape> InferConvTransposeShape(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in) {
  return InferWithFilter(def, in, WindowUse::kConvTranspose);
}

const ArgumentSpec<int>& LegacyPadArgument(WindowUse use) {
  if (use == WindowUse::kPad) return kPadImageLegacyPad;
  return use == WindowUse::kConvTranspose ? kTransposedLegacyPad : kLegacyPad;
}

const ArgumentSpec<int>& WindowGroupArgument(WindowUse use) {
  return IsPool(use) || use == WindowUse::kPad ? kUnusedGroup : kConvGroup;
}

void DeclareWindowArguments(OpSchema& schema, WindowUse use) {
  const auto declare_per_axis = [&](const PerAxisArgument& argument) {
    schema.Args(argument.list, argument.scalar, argument.height, argument.width);
  };
  declare_per_axis(kWindowKernel);
  declare_per_axis(kWindowStride);
  schema.Args(kWindowPads, kWindowPad);
  for (const auto& side : kWindowPadSides) schema.Arg(side);
  schema.Args(LegacyPadArgument(use), kStorageOrder, WindowGroupArgument(use), kSharedBuffer,
              kDeterministic);
  if (use == WindowUse::kConvTranspose) {
    declare_per_axis(kWindowAdj);
  } else {
    declare_per_axis(kWindowDilation);
    schema.Args(kGlobalPooling, kFloat16Compute);
  }
}

}  // namespace caffe2rt
