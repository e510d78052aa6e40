#pragma once
// How two shapes meet in a binary operator: numpy's rules, and Caffe2's older ones (`broadcast: 1`,
// `axis`).
//
//   const BroadcastArguments arguments(args);           // once, in the constructor
//   plan.Make(A.sizes(), B.sizes(), arguments);         // when the shapes differ
//   Output(0, plan.output_dims(), type);
//   plan.loops().ForEachBlock([&](int64_t a, int64_t b, int64_t y) { ... });    // offsets
//
// numpy: dimensions are compared from the end; they are equal or one of them is 1.
// Older: the dimensions of B match those of A from `axis` on (default: the last ones); the result
// has A's shape. Leading and trailing dimensions of B that are 1 fit anything, a B of one element
// fits everything.
//
// A plan is a plain value and does not allocate after its first use with a rank.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "operators/common/broadcast_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kBroadcast{
    "broadcast", false,
    "1: the older rules: the dimensions of B match those of A from `axis` on, and the result has "
    "A's shape; 0: numpy's rules"};
inline constexpr ArgumentSpec<int> kBroadcastAxis{
    "axis", -1, "older rules: the dimension of A where B begins; -1: B's are the last ones"};
inline constexpr ArgumentSpec<std::string> kBroadcastAxisStr{
    "axis_str", "", "older rules: the axis as a letter of `order`"};
inline constexpr ArgumentSpec<std::string> kBroadcastOrder{
    "order", "NCHW", "older rules: what the letters of axis_str mean"};

struct BroadcastArguments {
  bool legacy = false;
  int axis = kBroadcastAxis.default_value;

  BroadcastArguments() = default;
  // Whether two equal shapes meet without a further check: an axis beyond the first fits none of
  // them.
  bool FitsEqualShapes() const { return !legacy || axis == -1 || axis == 0; }
  // Reads the four arguments above. THROWS when they contradict each other.
  explicit BroadcastArguments(const ArgumentHelper& args) : BroadcastArguments(args, false) {}
  // With `always_legacy` as if `broadcast` were set.
  BroadcastArguments(const ArgumentHelper& args, bool always_legacy);
};

// Declares the four arguments.
void DeclareBroadcastArguments(OpSchema& schema);

// Two shapes, how they meet and the loops over their elements.
class BroadcastPlan {
 public:
  // THROWS when the shapes do not fit.
  void Make(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments);

  const std::vector<int64_t>& output_dims() const { return output_dims_; }
  int64_t output_size() const { return loops_.output_size; }
  const BroadcastLoops& loops() const { return loops_; }

 private:
  void Align(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments);
  void Collapse();

  std::vector<int64_t> output_dims_;
  std::vector<int64_t> a_dims_, b_dims_;  // of the output's rank
  BroadcastLoops loops_;
};

// Marks the dimensions of `a` along which `b` is broadcast by the older rules. THROWS when the
// shapes do not fit.
void MarkBroadcastDims(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments,
                       std::vector<char>* marks);

// The result of numpy's rules, and of the older ones (A's shape). THROWS when the shapes do not
// fit.
std::vector<int64_t> BroadcastShape(IntArrayRef a, IntArrayRef b,
                                    const BroadcastArguments& arguments);

}  // namespace caffe2rt
