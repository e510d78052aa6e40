#pragma once
// Windows that slide over spatial axes: the arguments of convolutions, transposed convolutions and
// pools, and the sizes that follow from them.
//
//   // Once, in the constructor.
//   const WindowArguments window = ParseWindowArguments(args, WindowUse::kPool);
//   // When the input's shape changes.
//   const WindowGeometry g = MakeWindowGeometry(window, X.sizes());
//   Output(0, g.OutputDims(g.channels), X.dtype());
//   for (int i = 0; i < g.axes; ++i) use(g.axis[i].in, g.axis[i].kernel, g.axis[i].out);
//
// If several arguments set the same value, lists (kernels, strides, pads, dilations, adjs) have
// precedence over scalars (kernel, ..., for two axes), and scalars over the pairs _h and _w. A pair
// has an effect only if both of its arguments are given; pad_t, pad_l, pad_b and pad_r have an
// effect only if all four are given. Lists and pairs give one value per axis, so the input must
// have as many axes. A pool that has only scalars also accepts an input with one axis.
//
// All types are plain values; all functions are thread safe. They THROW EnforceNotMet if sizes do
// not fit together.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/common/window_geometry.h"

namespace caffe2rt {

// The values of argument legacy_pad, numbered as in enum LegacyPadding of the protos.
enum class PaddingRule { kNotSet = 0, kValid = 1, kSame = 2, kCaffePooling = 3 };

// The kind of operator. kPad is PadImage: its windows have one element, whatever the kernel
// arguments are. kWidePool is a pool whose windows may lie in the padding altogether.
enum class WindowUse { kConv, kPool, kWidePool, kConvTranspose, kPad };

inline bool IsPool(WindowUse use) { return use == WindowUse::kPool || use == WindowUse::kWidePool; }

struct WindowArguments {
  // One entry per axis. Empty for global pooling: the axes follow the input.
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> dilation;
  std::vector<int64_t> adj;   // transposed convolutions only; zeros for others
  std::vector<int64_t> pads;  // the heads of all axes, then the tails
  PaddingRule legacy_pad = PaddingRule::kNotSet;
  StorageOrder order = StorageOrder::NCHW;
  int64_t group = 1;
  bool global_pooling = false;
  // A list or a pair was given, so the input must have one axis per kernel.
  bool one_by_one = false;
  WindowUse use = WindowUse::kConv;
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Reads and checks the arguments. THROWS for lists of different lengths, strides below 1, negative
// dilations, an unknown order or legacy_pad, explicit pads together with legacy_pad VALID or SAME,
// pads of a kPool that are not below its kernel, and similar errors.
WindowArguments ParseWindowArguments(const ArgumentHelper& args, WindowUse use);

// The geometry for an input of shape `dims` (batch, channels and axes, in the order given by
// `args`). THROWS if the number of axes differs from the number of kernels (a pool with scalar
// arguments may have one axis, a global pool any number), if a dimension other than the batch is 0,
// or if a window does not fit into its axis.
WindowGeometry MakeWindowGeometry(const WindowArguments& args, IntArrayRef dims);
#pragma GCC visibility pop

// Shape inference of a pool. The output's shape is unknown if the input's is. THROWS the errors
// that the operator would throw.
std::vector<TensorShape> InferPoolShape(const OperatorDef& def, const std::vector<TensorShape>& in);
std::vector<TensorShape> InferWidePoolShape(const OperatorDef& def,
                                            const std::vector<TensorShape>& in);
// Shape inference of Conv and ConvTranspose. The number of output channels comes from input 1, the
// filter.
std::vector<TensorShape> InferConvShape(const OperatorDef& def, const std::vector<TensorShape>& in);
std::vector<TensorShape> InferConvTransposeShape(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in);

// Declares the arguments that ParseWindowArguments reads, and those that Caffe2's operators accept
// and ignore.
void DeclareWindowArguments(OpSchema& schema, WindowUse use);

}  // namespace caffe2rt
