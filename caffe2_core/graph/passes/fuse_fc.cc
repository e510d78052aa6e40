#include "caffe2_core/graph/passes/fuse_fc.h"

#include <optional>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/group_fusion.h"

namespace caffe2rt {
namespace {

// A matrix multiplication as FCFusion without activation.
struct Layer {
  OperatorDef fused;
  int64_t outputs = 0;    // N
  bool has_bias = false;  // the operator itself has one
};

const Tensor* ConstantWeights(const GroupFusion& groups, uint32_t op) {
  const Tensor* const w = groups.Constant(op, 1);
  return w != nullptr && w->IsType<float>() && w->dim() >= 1 ? w : nullptr;
}

OperatorDef FusedDef(const OperatorDef& def, int axis, int axis_w, bool transposed) {
  std::vector<std::string> inputs(def.input().begin(), def.input().end());
  std::vector<Argument> args = {MakeArgument<int>("axis", axis)};
  if (axis_w != 1) args.push_back(MakeArgument<int>("axis_w", axis_w));
  if (transposed) args.push_back(MakeArgument<int>("transposed", 1));
  const Argument* const least = GetArgumentPtr(def, "least_precision");
  if (least != nullptr) args.push_back(*least);
  return CreateOperatorDef(kFCFusionType, "", inputs, {def.output(0)}, args);
}

std::optional<Layer> FromFC(const GroupFusion& groups, uint32_t op, bool transposed) {
  if (ConstantWeights(groups, op) == nullptr) return std::nullopt;
  const DeclaredArguments args(groups.op(op));
  return Layer{FusedDef(groups.op(op), args.Get<int>("axis"), args.Get<int>("axis_w"), transposed),
               0, true};
}

std::optional<Layer> FromMatMul(const GroupFusion& groups, uint32_t op) {
  const Tensor* const w = ConstantWeights(groups, op);
  const DeclaredArguments args(groups.op(op));
  if (w == nullptr || groups.values().num_inputs(op) != 2 || groups.Constant(op, 0) != nullptr ||
      args.Get<int>("trans_a") != 0 || args.Get<int>("axis_a") != 1) {
    return std::nullopt;
  }
  const int axis = args.Get<int>("axis_b");
  const bool trans_b = args.Get<int>("trans_b") != 0;
  const int cut = canonical_axis_index_(axis, w->dim());
  return Layer{FusedDef(groups.op(op), 1, axis, !trans_b),
               trans_b ? w->size_to_dim(cut) : w->size_from_dim(cut), false};
}

// The last dimension of A is multiplied by the matrix, as with axis -1. A may be a vector, with and
// without `broadcast`. Without it, A must not have several matrices.
std::optional<Layer> FromBatchMatMul(const GroupFusion& groups, uint32_t op) {
  const Tensor* const w = ConstantWeights(groups, op);
  const DeclaredArguments args(groups.op(op));
  if (w == nullptr || w->dim() != 2 || groups.Constant(op, 0) != nullptr ||
      args.Get<int>("trans_a") != 0) {
    return std::nullopt;
  }
  const bool trans_b = args.Get<int>("trans_b") != 0;
  Layer layer{FusedDef(groups.op(op), -1, 1, !trans_b), w->dim(trans_b ? 0 : 1), false};
  if (!args.Get<bool>("broadcast")) AddArgument<int>("one_matrix", 1, &layer.fused);
  return layer;
}

std::optional<Layer> FindLayer(const GroupFusion& groups, uint32_t op) try {
  if (groups.IsType(op, "FC")) return FromFC(groups, op, false);
  if (groups.IsType(op, "FCTransposed")) return FromFC(groups, op, true);
  if (groups.IsType(op, "MatMul")) return FromMatMul(groups, op);
  if (groups.IsType(op, "BatchMatMul")) return FromBatchMatMul(groups, op);
  return std::nullopt;
} catch (const EnforceNotMet&) {
  return std::nullopt;  // an argument has the wrong type or value, which the operator reports
}

// If the only reader of the layer adds a constant vector of the right size, makes that the bias and
// returns the operator.
uint32_t AddBias(const GroupFusion& groups, uint32_t op, Layer* layer) {
  if (layer->has_bias) return GroupFusion::kNone;
  const NetValues& values = groups.values();
  const uint32_t add = groups.SoleReader(values.output(op, 0), "Add");
  if (add == GroupFusion::kNone) return GroupFusion::kNone;
  const size_t other = values.input(add, 0) == values.output(op, 0) ? 1 : 0;
  if (!groups.CombinesLastDims(add, other)) return GroupFusion::kNone;
  const Tensor* const bias = groups.Constant(add, other);
  if (bias == nullptr || !bias->IsType<float>() || bias->dim() != 1 ||
      bias->dim(0) != layer->outputs) {
    return GroupFusion::kNone;
  }
  layer->fused.add_input(groups.op(add).input(static_cast<int>(other)));
  return add;
}

// If the only reader of the layer is Gelu, adds it to the layer and returns the operator. The pass
// fuse_activation adds other activations.
uint32_t AddGelu(const GroupFusion& groups, uint32_t last, Layer* layer) {
  const uint32_t op = groups.SoleReader(groups.values().output(last, 0), "Gelu");
  if (op == GroupFusion::kNone) return GroupFusion::kNone;
  const bool fast = DeclaredArguments(groups.op(op)).Get<bool>("fast_gelu");
  AddArgument<std::string>(kActivationArgument, fast ? "FastGelu" : "Gelu", &layer->fused);
  return op;
}

}  // namespace

NetDef FuseFC(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  for (uint32_t op = 0; op < groups.size(); ++op) {
    std::optional<Layer> layer = FindLayer(groups, op);
    if (!layer) continue;
    std::vector<uint32_t> group = {op};
    if (const uint32_t add = AddBias(groups, op, &*layer); add != GroupFusion::kNone)
      group.push_back(add);
    const uint32_t gelu = AddGelu(groups, group.back(), &*layer);
    const uint32_t last = gelu != GroupFusion::kNone ? gelu : group.back();
    layer->fused.set_output(0, groups.op(last).output(0));
    if (gelu != GroupFusion::kNone) group.push_back(gelu);
    groups.Fuse(std::move(group), std::move(layer->fused));
  }
  groups.Apply();
  return net;
}

}  // namespace caffe2rt
