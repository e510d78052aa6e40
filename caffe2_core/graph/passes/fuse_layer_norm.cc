#include "caffe2_core/graph/passes/fuse_layer_norm.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/group_fusion.h"

namespace caffe2rt {
namespace {

using Value = GroupFusion::Value;
using Group = std::vector<uint32_t>;

// A mean over one dimension. ReduceMean keeps the dimension with size 1, ReduceBackMean drops it.
struct Mean {
  uint32_t op = GroupFusion::kNone;
  bool keeps = true;
  int axis = -1;

  // Whether both are over the same dimension, given that they are of the same rank.
  bool Matches(const Mean& other) const {
    return op != GroupFusion::kNone && other.op != GroupFusion::kNone && keeps == other.keeps &&
           axis == other.axis;
  }
};

Mean FindMean(const GroupFusion& groups, Value value) {
  if (const uint32_t op = groups.Writer(value, "ReduceMean"); op != GroupFusion::kNone) {
    const DeclaredArguments args(groups.op(op));
    const bool keeps = args.Get<int>("keepdims") != 0;
    const std::vector<int> axes = args.GetRepeatedArgument<int>("axes");
    return keeps && axes.size() == 1 && axes[0] >= -1 ? Mean{op, true, axes[0]} : Mean{};
  }
  if (const uint32_t op = groups.Writer(value, "ReduceBackMean"); op != GroupFusion::kNone) {
    const int dims = DeclaredArguments(groups.op(op)).Get<int>("num_reduce_dim");
    return dims == 1 && groups.values().num_inputs(op) == 1 ? Mean{op, false, -1} : Mean{};
  }
  return {};
}

// Whether the operator combines a tensor with a statistic of its rows: if the statistic keeps its
// dimension, by numpy's rules, or by the older rules with the statistic of the last dimension as
// input 1, otherwise by the older rules, from the first dimension on.
bool CombinesRows(const GroupFusion& groups, uint32_t op, const Mean& mean, size_t statistic = 1) {
  if (mean.keeps && groups.BroadcastsLikeNumpy(op)) return true;
  if (mean.keeps) return mean.axis == -1 && groups.CombinesLastDims(op, statistic);
  const DeclaredArguments args(groups.op(op));
  return args.Get<int>("broadcast") == 1 && !args.HasArgument("axis_str") &&
         args.Get<int>("axis") == 0;
}

// x - mean of x, as the last operator of the value.
struct Centered {
  uint32_t sub = GroupFusion::kNone;
  Mean mean;
  Value x = GroupFusion::kNone;
};

Centered FindCentered(const GroupFusion& groups, Value value) {
  const uint32_t sub = groups.Writer(value, "Sub");
  if (sub == GroupFusion::kNone) return {};
  const NetValues& values = groups.values();
  const Mean mean = FindMean(groups, values.input(sub, 1));
  if (mean.op == GroupFusion::kNone || !CombinesRows(groups, sub, mean)) return {};
  const Value x = values.input(sub, 0);
  if (values.input(mean.op, 0) != x) return {};
  return {sub, mean, x};
}

// The constant exponent of a Pow, or 0. By the older rules, one number is broadcast; otherwise its
// shape must be that of the base, and an axis is an error.
double PowExponent(const GroupFusion& groups, uint32_t op) {
  const DeclaredArguments args(groups.op(op));
  if (args.HasArgument("axis") || args.HasArgument("axis_str")) return 0;
  if (groups.values().num_inputs(op) == 1) return static_cast<double>(args.Get<float>("exponent"));
  if (!args.Get<bool>("broadcast")) return 0;
  return static_cast<double>(groups.Number(op, 1).value_or(0));
}

// If the value is a square, returns its operator; *base is what is squared.
uint32_t FindSquare(const GroupFusion& groups, Value value, Value* base) {
  const NetValues& values = groups.values();
  for (const char* type : {"Sqr", "Pow", "Mul"}) {
    const uint32_t op = groups.Writer(value, type);
    if (op == GroupFusion::kNone) continue;
    *base = values.input(op, 0);
    const std::string& found = groups.op(op).type();
    if (found == "Pow" && PowExponent(groups, op) != 2) return GroupFusion::kNone;
    if (found == "Mul" && (values.input(op, 1) != *base || !groups.CombinesLastDims(op, 1))) {
      return GroupFusion::kNone;
    }
    return op;
  }
  return GroupFusion::kNone;
}

// The square root of variance + epsilon, or its inverse.
struct Deviation {
  Group group;
  Centered centered;
  float epsilon = 0;
};

bool FindDeviation(const GroupFusion& groups, uint32_t root, Deviation* found) {
  const NetValues& values = groups.values();
  const uint32_t add = groups.Writer(values.input(root, 0), "Add");
  if (add == GroupFusion::kNone) return false;
  const size_t number = groups.Number(add, 1) ? 1 : 0;
  const auto epsilon = groups.Number(add, number);
  if (!epsilon || !groups.CombinesLastDims(add, number)) return false;
  const Mean variance = FindMean(groups, values.input(add, 1 - number));
  if (variance.op == GroupFusion::kNone) return false;
  Value base = GroupFusion::kNone;
  const uint32_t square = FindSquare(groups, values.input(variance.op, 0), &base);
  if (square == GroupFusion::kNone) return false;
  found->centered = FindCentered(groups, base);
  if (found->centered.sub == GroupFusion::kNone || !found->centered.mean.Matches(variance))
    return false;
  found->epsilon = *epsilon;
  found->group = {found->centered.mean.op, found->centered.sub, square, variance.op, add, root};
  return true;
}

// A constant vector that the operator combines with `value`: its input, or -1.
int FindVector(const GroupFusion& groups, uint32_t op, Value value) {
  if (op == GroupFusion::kNone) return -1;
  const size_t other = groups.values().input(op, 0) == value ? 1 : 0;
  if (!groups.CombinesLastDims(op, other)) return -1;
  const Tensor* const tensor = groups.Constant(op, other);
  if (tensor == nullptr || tensor->dim() != 1 || !tensor->IsType<float>()) return -1;
  return static_cast<int>(other);
}

OperatorDef LayerNormDef(const std::vector<std::string>& inputs, const std::string& output,
                         int axis, float epsilon) {
  return CreateOperatorDef(
      "LayerNormFusion", "", inputs, std::vector<std::string>{output},
      {MakeArgument<int>("axis", axis), MakeArgument<float>("epsilon", epsilon)});
}

// Continues from the normalized value: Mul by gamma and Add of beta.
bool FuseAffine(GroupFusion* groups, const Deviation& deviation, uint32_t normalize, Group group) {
  const NetValues& values = groups->values();
  const Value normal = values.output(normalize, 0);
  const uint32_t mul = groups->SoleReader(normal, "Mul");
  const int gamma = FindVector(*groups, mul, normal);
  if (gamma < 0) return false;
  const Value scaled = values.output(mul, 0);
  const uint32_t add = groups->SoleReader(scaled, "Add");
  const int beta = FindVector(*groups, add, scaled);
  if (beta < 0) return false;
  // One element may be broadcast to longer rows.
  const int64_t length = groups->Constant(mul, static_cast<size_t>(gamma))->numel();
  if (length == 1 || length != groups->Constant(add, static_cast<size_t>(beta))->numel()) {
    return false;
  }
  group.insert(group.end(), {normalize, mul, add});
  const OperatorDef& from = groups->op(deviation.centered.sub);
  const int axis = deviation.centered.mean.axis;
  OperatorDef fused =
      LayerNormDef({from.input(0), groups->op(mul).input(gamma), groups->op(add).input(beta)},
                   groups->op(add).output(0), axis, deviation.epsilon);
  // The rank is not known, so dimension `axis` may not be the last one.
  if (axis != -1) AddArgument<int>("single_axis", 1, &fused);
  if (groups->BroadcastsLikeNumpy(mul)) AddArgument<int>("broadcast_last", 1, &fused);
  return groups->Fuse(std::move(group), std::move(fused));
}

// `root` computes the deviation, or its inverse if `inverse`.
bool FuseArithmetic(GroupFusion* groups, uint32_t root, bool inverse) {
  Deviation deviation;
  if (!FindDeviation(*groups, root, &deviation)) return false;
  const NetValues& values = groups->values();
  const Value divisor = values.output(root, 0);
  const uint32_t normalize = groups->SoleReader(divisor, inverse ? "Mul" : "Div");
  if (normalize == GroupFusion::kNone) return false;
  const size_t other = values.input(normalize, 0) == divisor ? 1 : 0;
  if (!CombinesRows(*groups, normalize, deviation.centered.mean, 1 - other)) return false;
  // The statistic must be input 1 of Div, and input 1 under the older rules.
  if (other == 1 && (!inverse || !deviation.centered.mean.keeps)) return false;
  const Value numerator = values.input(normalize, other);
  Group group = deviation.group;
  if (numerator != values.output(deviation.centered.sub, 0)) {
    const Centered second = FindCentered(*groups, numerator);
    if (second.x != deviation.centered.x || !second.mean.Matches(deviation.centered.mean)) {
      return false;
    }
    group.insert(group.end(), {second.sub, second.mean.op});
  }
  return FuseAffine(groups, deviation, normalize, std::move(group));
}

// LayerNorm computes in double as well, if X and its parameters are double.
bool FuseOperator(GroupFusion* groups, uint32_t op) try {
  const OperatorDef& def = groups->op(op);
  const DeclaredArguments args(def);
  if (!args.Get<bool>("elementwise_affine")) return false;
  if (def.input_size() != 3) return false;  // the operator reports it
  const Tensor* const gamma = groups->Constant(op, 1);
  if (gamma == nullptr || !gamma->IsType<float>()) return false;
  OperatorDef fused = LayerNormDef({def.input(0), def.input(1), def.input(2)}, def.output(0),
                                   args.Get<int>("axis"), args.Get<float>("epsilon"));
  AddArgument<int>("least_rank", 2, &fused);
  return groups->Fuse({op}, std::move(fused));
} catch (const EnforceNotMet&) {  // an argument has the wrong type, which the operator reports
  return false;
}

NetDef FuseNormalizations(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  for (uint32_t op = 0; op < groups.size(); ++op) {
    if (groups.IsType(op, "Sqrt")) FuseArithmetic(&groups, op, false);
    if (groups.IsType(op, "Rsqrt")) FuseArithmetic(&groups, op, true);
    if (groups.IsType(op, "Pow") && PowExponent(groups, op) == 0.5) {
      FuseArithmetic(&groups, op, false);
    }
    if (groups.IsType(op, "Pow") && PowExponent(groups, op) == -0.5) {
      FuseArithmetic(&groups, op, true);
    }
    if (groups.IsType(op, "LayerNorm")) FuseOperator(&groups, op);
  }
  groups.Apply();
  return net;
}

NetDef FuseResiduals(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  const NetValues& values = groups.values();
  for (uint32_t op = 0; op < groups.size(); ++op) {
    if (!groups.IsType(op, "LayerNormFusion") || values.num_inputs(op) != 3) continue;
    const Value sum = values.input(op, 0);
    const uint32_t add = groups.Writer(sum, "Add");
    if (add == GroupFusion::kNone || !groups.BroadcastsLikeNumpy(add)) continue;
    OperatorDef fused = groups.op(op);
    fused.set_input(0, groups.op(add).input(0));
    fused.add_input(groups.op(add).input(1));
    if (values.SoleReader(sum) == GroupFusion::kNone) fused.add_output(groups.op(add).output(0));
    groups.Fuse({add, op}, std::move(fused));
  }
  groups.Apply();
  return net;
}

}  // namespace

NetDef FuseLayerNorm(NetDef net, PassContext& context) {
  return FuseResiduals(FuseNormalizations(std::move(net), context), context);
}

}  // namespace caffe2rt
