#include "caffe2_core/graph/passes/fuse_gelu.h"

#include <cmath>
#include <utility>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/group_fusion.h"

namespace caffe2rt {
namespace {

// Constants in files have float precision at most.
bool IsAbout(double value, double want) { return std::abs(value - want) <= 1e-6 * want; }

// The operands that multiply 1 + erf(x / sqrt(2)), as found so far.
struct Factors {
  bool has_x = false;
  double number = 1;
};

// Adds the operand in input `i` of a Mul: a number, x, or x times a number. Returns false if it is
// anything else.
bool AddFactor(const GroupFusion& groups, uint32_t mul, size_t i, GroupFusion::Value x,
               Factors* factors, std::vector<uint32_t>* group) {
  if (const auto number = groups.Number(mul, i); number && groups.CombinesLastDims(mul, i)) {
    factors->number *= static_cast<double>(*number);
    return true;
  }
  if (!groups.CombinesLastDims(mul, 1)) return false;
  const GroupFusion::Value operand = groups.values().input(mul, i);
  if (!factors->has_x && operand == x) {
    factors->has_x = true;
    return true;
  }
  const uint32_t writer = groups.values().writer(operand);
  if (factors->has_x || writer == GroupFusion::kNone) return false;
  const auto scaling = groups.AsScaling(writer);
  if (!scaling || scaling->x != x) return false;
  factors->has_x = true;
  factors->number *= scaling->factor;
  group->push_back(writer);
  return true;
}

// Whether a constant of the group has rank 1 and makes a tensor of rank 1 of one of rank 0.
bool AddsDimension(const GroupFusion& groups, const std::vector<uint32_t>& group) {
  for (const uint32_t op : group) {
    for (size_t i = 0; i < groups.values().num_inputs(op); ++i) {
      const Tensor* const constant = groups.Constant(op, i);
      if (constant != nullptr && constant->dim() > 0 && groups.BroadcastsLikeNumpy(op)) return true;
    }
  }
  return false;
}

// Whether the value has rank 1 or more in every run that succeeds. Follows few operators, because
// many groups may follow the same ones.
bool HasDimension(const GroupFusion& groups, GroupFusion::Value value) {
  constexpr int kMostFollowed = 64;
  const NetValues& values = groups.values();
  for (int i = 0; i < kMostFollowed && values.writer(value) != GroupFusion::kNone; ++i) {
    const uint32_t writer = values.writer(value);
    if (!values.is_plain(writer) || values.output(writer, 0) != value) return false;
    const OperatorTraits& traits = TraitsOf(groups.op(writer).type());
    // The third input of MatMul states the shape of the result.
    if (traits.multiply_adds == MultiplyAddCount::kMatMul) return values.num_inputs(writer) == 2;
    if (traits.multiply_adds != MultiplyAddCount::kNotCounted) return true;
    if (traits.affine != AffineForm::kNone && values.num_inputs(writer) == 2 &&
        groups.BroadcastsLikeNumpy(writer)) {
      for (const size_t i : {0u, 1u}) {
        const Tensor* const constant = groups.Constant(writer, i);
        if (constant != nullptr && constant->dim() > 0) return true;
      }
    }
    if (!traits.same_shape) return false;
    value = values.input(writer, 0);
  }
  return false;
}

bool FuseErf(GroupFusion* groups, uint32_t erf) {
  const NetValues& values = groups->values();
  const uint32_t argument = values.writer(values.input(erf, 0));
  if (argument == GroupFusion::kNone) return false;
  const auto scaling = groups->AsScaling(argument);
  if (!scaling || !IsAbout(scaling->factor, std::sqrt(0.5))) return false;
  const uint32_t add = groups->SoleReader(values.output(erf, 0), "Add");
  if (add == GroupFusion::kNone) return false;
  const size_t one = values.input(add, 0) == values.output(erf, 0) ? 1 : 0;
  if (groups->Number(add, one) != 1.0f || !groups->CombinesLastDims(add, one)) return false;
  std::vector<uint32_t> group = {argument, erf, add};
  Factors factors;
  uint32_t last = add;
  while (!factors.has_x || factors.number != 0.5) {
    const GroupFusion::Value product = values.output(last, 0);
    const uint32_t mul = groups->SoleReader(product, "Mul");
    if (mul == GroupFusion::kNone) return false;
    const size_t other = values.input(mul, 0) == product ? 1 : 0;
    if (!AddFactor(*groups, mul, other, scaling->x, &factors, &group)) return false;
    group.push_back(mul);
    last = mul;
  }
  if (AddsDimension(*groups, group) && !HasDimension(*groups, scaling->x)) return false;
  const OperatorDef& from = groups->op(argument);
  const int x = values.input(argument, 0) == scaling->x ? 0 : 1;
  return groups->Fuse(std::move(group),
                      CreateOperatorDef("Gelu", "", {from.input(x)}, {groups->op(last).output(0)}));
}

}  // namespace

NetDef FuseGelu(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  for (uint32_t op = 0; op < groups.size(); ++op) {
    if (groups.IsType(op, "Erf")) FuseErf(&groups, op);
  }
  groups.Apply();
  return net;
}

}  // namespace caffe2rt
