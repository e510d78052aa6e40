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
// Precedence of arguments: lists (kernels, strides, pads, dilations, adjs) over scalars (kernel,
// ...: two axes) over the _h/_w pairs, which count only when both are given, as pad_t, pad_l, pad_b
// and pad_r do only when all four are. Lists and pairs give values one by one: the input has as
// many axes as there are. Scalars alone hold for every axis of a pool.
//
// Plain values; thread safe. Everything THROWS EnforceNotMet on sizes that do not fit together.

#include <cstdint>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"
#include "operators/common/window_geometry.h"

namespace caffe2rt {

// What argument legacy_pad asks for; numbers as in enum LegacyPadding of the protos.
enum class PaddingRule { kNotSet = 0, kValid = 1, kSame = 2, kCaffePooling = 3 };

// kPad is PadImage: windows of one element, whatever the kernel arguments say.
enum class WindowUse { kConv, kPool, kConvTranspose, kPad };

struct WindowArguments {
  std::vector<int64_t> kernel;  // one entry an axis; empty: axes follow the input (global pooling)
  std::vector<int64_t> stride;
  std::vector<int64_t> dilation;
  std::vector<int64_t> adj;   // transposed convolution only; zeros else
  std::vector<int64_t> pads;  // all heads, then all tails
  PaddingRule legacy_pad = PaddingRule::kNotSet;
  StorageOrder order = StorageOrder::NCHW;
  int64_t group = 1;
  bool global_pooling = false;
  bool one_by_one = false;  // a list or a pair gave values: inputs need an axis for each kernel
  WindowUse use = WindowUse::kConv;
};

// Reads and checks the arguments. THROWS for lists of different lengths, strides below 1, negative
// dilations, an unknown order or legacy_pad, explicit pads beside legacy_pad VALID or SAME, pads
// not below the kernel in pools, and the like.
WindowArguments ParseWindowArguments(const ArgumentHelper& args, WindowUse use);

// The geometry for an input of `dims` (batch, channels and axes in the order of `args`). THROWS
// when the number of axes is not that of the kernels (a pool with scalar arguments may have one
// axis, a global one any number), a dimension but the batch is 0, or a window does not fit into its
// axis.
WindowGeometry MakeWindowGeometry(const WindowArguments& args, IntArrayRef dims);

// Shape inference of a pool: the output's shape, unknown when the input's is. THROWS what the
// operator would.
std::vector<TensorShape> InferPoolShape(const OperatorDef& def, const std::vector<TensorShape>& in);
// Of Conv and ConvTranspose: the output's channels come from input 1, the filter.
std::vector<TensorShape> InferConvShape(const OperatorDef& def, const std::vector<TensorShape>& in);
std::vector<TensorShape> InferConvTransposeShape(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in);

// Declares the arguments that ParseWindowArguments reads, and those that Caffe2's operators accept
// beside them.
void DeclareWindowArguments(OpSchema& schema, WindowUse use);

}  // namespace caffe2rt
