#include "caffe2_core/graph/passes/same_shapes.h"

#include <string>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"

namespace caffe2rt {
namespace {

bool IsArithmetic(AffineForm form) {
  return form == AffineForm::kAdd || form == AffineForm::kSub || form == AffineForm::kMul ||
         form == AffineForm::kDiv;
}

// One number for each of `axes` axes; the argument is a list, one number for all, or one for each
// of two axes. Empty if it is given in several ways or has another length.
std::vector<int64_t> PerAxis(const ArgumentHelper& args, const char* list,
                             const std::string& scalar, size_t axes) {
  const bool has_list = args.HasArgument(list), has_scalar = args.HasArgument(scalar);
  const bool has_sides = args.HasArgument(scalar + "_h") || args.HasArgument(scalar + "_w");
  if (has_list + has_scalar + has_sides > 1 || (has_sides && axes != 2)) return {};
  std::vector<int64_t> values(axes, 1);
  if (has_list) {
    values = args.GetRepeatedArgument<int64_t>(list);
  } else if (has_scalar) {
    values.assign(axes, args.GetSingleArgument<int>(scalar, 1));
  } else if (has_sides) {
    // One side alone has no effect.
    if (!args.HasArgument(scalar + "_h") || !args.HasArgument(scalar + "_w")) return {};
    values = {args.GetSingleArgument<int>(scalar + "_h", 1),
              args.GetSingleArgument<int>(scalar + "_w", 1)};
  }
  return values.size() == axes ? values : std::vector<int64_t>();
}

// The sum of both pads of each axis, or an empty list as above.
std::vector<int64_t> PadSums(const ArgumentHelper& args, size_t axes) {
  const bool has_list = args.HasArgument("pads"), has_scalar = args.HasArgument("pad");
  bool has_sides = false;
  for (const char* side : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
    has_sides = has_sides || args.HasArgument(side);
  }
  if (has_list + has_scalar + has_sides > 1) return {};
  std::vector<int64_t> sums(axes, 0);
  if (has_list) {
    const std::vector<int> pads = args.GetRepeatedArgument<int>("pads");
    if (pads.size() != 2 * axes) return {};
    for (size_t i = 0; i < axes; ++i) sums[i] = int64_t{pads[i]} + pads[i + axes];
  } else if (has_scalar) {
    sums.assign(axes, 2 * int64_t{args.GetSingleArgument<int>("pad", 0)});
  } else if (has_sides) {
    return {};
  }
  return sums;
}

}  // namespace

SameShapes::SameShapes(const NetDef& net, const NetValues& values, NetConstants* constants)
    : values_(values), shapes_(values.num_values()) {
  for (Value value = 0; value < shapes_.size(); ++value) shapes_[value].base = value;
  for (size_t op = 0; op < values.num_operators(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    if (!values.is_plain(op) || values.num_inputs(op) == 0 || values.num_outputs(op) == 0) continue;
    try {
      shapes_[values.output(op, 0)] = Infer(op, def, constants);
    } catch (const EnforceNotMet&) {  // an argument is invalid, which the operator reports
    }
  }
}

SameShapes::Shape SameShapes::Infer(size_t op, const OperatorDef& def, NetConstants* constants) {
  const OperatorTraits& traits = TraitsOf(def.type());
  if (traits.same_shape) return Of(values_.input(op, 0));
  if (traits.linear == LinearForm::kConv || def.type() == kConvFusionType) {
    return InferConv(op, def, constants);
  }
  if (IsArithmetic(traits.affine)) return InferArithmetic(op, def, constants);
  return Of(values_.output(op, 0));
}

SameShapes::Shape SameShapes::InferConv(size_t op, const OperatorDef& def,
                                        NetConstants* constants) {
  const Shape unknown = Of(values_.output(op, 0));
  const Tensor* const filter = constants->Find(def.input(1));
  if (filter == nullptr || filter->dim() < 3) return unknown;
  const DeclaredArguments args(def);
  if (args.HasArgument("legacy_pad") || args.HasArgument("global_pooling")) return unknown;
  const auto axes = static_cast<size_t>(filter->dim() - 2);
  const StorageOrder order = ParseStorageOrder(args.Get<std::string>("order"));
  const bool last = order == StorageOrder::NHWC;
  const std::vector<int64_t> strides = PerAxis(args, "strides", "stride", axes),
                             dilations = PerAxis(args, "dilations", "dilation", axes),
                             pads = PadSums(args, axes);
  if (order == UNKNOWN || strides.empty() || dilations.empty() || pads.empty()) return unknown;
  Shape shape = Of(values_.input(op, 0));
  if (shape.spatial.empty()) {
    shape.spatial.assign(axes, 0);
    shape.channels_last = last;
  }
  if (shape.spatial.size() != axes || shape.channels_last != last) return unknown;
  shape.channels = filter->dim(0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t kernel = filter->dim(static_cast<int>(i) + (last ? 1 : 2));
    const int64_t extent = CheckedMultiply(dilations[i], kernel - 1) + 1;
    shape.spatial[i] = Append(shape.spatial[i], pads[i] - extent, strides[i]);
  }
  return shape;
}

// Operands of the same shape, or one constant number.
SameShapes::Shape SameShapes::InferArithmetic(size_t op, const OperatorDef& def,
                                              NetConstants* constants) {
  if (values_.num_inputs(op) != 2) return Of(values_.output(op, 0));
  if (AreSame(values_.input(op, 0), values_.input(op, 1))) return Of(values_.input(op, 0));
  for (size_t i = 0; i < 2; ++i) {
    const Tensor* const constant = constants->Find(def.input(static_cast<int>(i)));
    if (constant == nullptr || constant->numel() != 1 || constant->dim() > 1) continue;
    // With the older rules for broadcasting, only operand 1 is broadcast. One number in operand 0
    // would give a shape of one number, which is not the shape of operand 1.
    if (i == 0 && GetFlagArgument(def, "broadcast")) continue;
    const Shape& other = Of(values_.input(op, 1 - i));
    // A tensor without dimensions would become one of rank 1.
    if (!other.spatial.empty()) return other;
  }
  return Of(values_.output(op, 0));
}

uint32_t SameShapes::Append(uint32_t chain, int64_t offset, int64_t stride) {
  if (stride == 1 && offset == -1) return chain;  // keeps the size
  const auto next = static_cast<uint32_t>(chains_.size() + 1);
  return chains_.try_emplace({chain, offset, stride}, next).first->second;
}

}  // namespace caffe2rt
