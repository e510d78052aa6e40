#pragma once
// Replaces groups of operators by one fused operator each. Passes find a group by following values
// from an operator that is characteristic of it; Fuse checks everything that any group needs.
//
//   GroupFusion groups(&net, context);
//   for (uint32_t op = 0; op < groups.size(); ++op) {
//     if (!groups.IsType(op, "Erf")) continue;
//     ...                                               // finds the operators around it
//     groups.Fuse({div, op, add, mul}, fused);          // false: they must stay
//   }
//   groups.Apply();
//
//   before: 0: Div x c -> a    1: Erf a -> b    2: Add b one -> d    3: Mul x d -> y
//   after:  3: Gelu x -> y

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/graph/passes/net_edits.h"
#include "caffe2_core/graph/passes/net_pass.h"
#include "caffe2_core/graph/passes/net_values.h"

namespace caffe2rt {

class GroupFusion {
 public:
  using Value = NetValues::Value;
  static constexpr uint32_t kNone = NetValues::kNone;

  // REQUIRES: `net` outlives this object and only changes in Apply.
  GroupFusion(NetDef* net, PassContext& context);

  uint32_t size() const { return static_cast<uint32_t>(values_.num_operators()); }
  const NetValues& values() const { return values_; }
  const OperatorDef& op(uint32_t position) const { return net_.op(static_cast<int>(position)); }
  // Whether the operator is of this type, plain (NetValues::is_plain), and not in a group yet.
  bool IsType(uint32_t position, std::string_view type) const;

  // The operator of this type whose output 0 is the value, or kNone.
  uint32_t Writer(Value value, std::string_view type) const;
  // The operator of this type that is the only one to see the value, or kNone.
  uint32_t SoleReader(Value value, std::string_view type) const;

  // The constant that input `i` of the operator reads, or null.
  const Tensor* Constant(uint32_t position, size_t i) const;
  // The number in a constant of one float that input `i` reads. The constant has rank 0 or 1, so
  // that broadcasting it changes no shape of rank 1 or more.
  std::optional<float> Number(uint32_t position, size_t i) const;

  // An operator that multiplies a value by a number, such as Scale, or Mul by a constant.
  struct Scaling {
    Value x = kNone;
    double factor = 1;
  };
  std::optional<Scaling> AsScaling(uint32_t position) const;

  // Whether a binary operator broadcasts its operands by numpy's rules.
  bool BroadcastsLikeNumpy(uint32_t position) const;
  // Whether a binary operator combines the last dimensions of its operands: by numpy's rules, or by
  // the older rules with operand `small` as input 1. The result is the same by both rules if that
  // operand has one element, or rank 1 and the size of the last dimension of the other one, which
  // has a dimension.
  bool CombinesLastDims(uint32_t position, size_t small) const;

  // Replaces the operators by `fused`, which takes the place of the last of them, its name and its
  // device. Returns false and changes nothing if
  // - an operator is not plain or is in a group already, or the fused type has no implementation;
  // - something else sees a result of the group that `fused` does not write, or needs it earlier;
  // - a blob that `fused` reads is overwritten before its place, or is also its output.
  bool Fuse(std::vector<uint32_t> group, OperatorDef fused);

  // Applies all replacements to the net. Call it once, at the end.
  void Apply() { edits_.Apply(); }

 private:
  // Whether the operator is plain and not in a group yet.
  bool IsFree(uint32_t position) const;
  bool InputsLast(std::span<const uint32_t> group, const OperatorDef& fused) const;
  bool ResultsStay(std::span<const uint32_t> group, const OperatorDef& fused) const;

  NetDef& net_;
  PassContext& context_;
  const NetValues values_;
  NetEdits edits_;
};

}  // namespace caffe2rt
