#pragma once
// Broadcasting of two shapes in a binary operator, by numpy's rules or by Caffe2's older rules
// (arguments `broadcast` and `axis`).
//
//   const BroadcastArguments arguments(args);           // once, in the constructor
//   plan.Make(A.sizes(), B.sizes(), arguments);         // when the shapes differ
//   Output(0, plan.output_dims(), type);
//   plan.loops().ForEachBlock([&](int64_t a, int64_t b, int64_t y) { ... });    // offsets
//
// numpy's rules: dimensions are compared from the last one backwards. They must be equal, or one of
// them must be 1.
//
// Older rules: the dimensions of B must match those of A that start at `axis` (default: the last
// dimensions of A). The result has A's shape. Leading and trailing dimensions of B that are 1 match
// any dimension, and a B of one element matches any A.
//
// A plan is a plain value. After its first use with a given rank it does not allocate memory.

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
    "axis", -1,
    "older rules: the dimension of A that matches the first one of B; -1: B matches the last "
    "dimensions"};
inline constexpr ArgumentSpec<std::string> kBroadcastAxisStr{
    "axis_str", "", "older rules: the axis as a letter of `order`"};
inline constexpr ArgumentSpec<std::string> kBroadcastOrder{
    "order", "NCHW", "older rules: the dimensions that the letters of axis_str name"};

struct [[gnu::visibility("default")]] BroadcastArguments {
  bool legacy = false;
  int axis = kBroadcastAxis.default_value;

  BroadcastArguments() = default;
  // Whether two equal shapes can be combined without a further check. With the older rules, an
  // `axis` after the first is an error even for equal shapes.
  bool FitsEqualShapes() const { return !legacy || axis == -1 || axis == 0; }
  // Reads the four arguments above. THROWS if they contradict each other.
  explicit BroadcastArguments(const ArgumentHelper& args) : BroadcastArguments(args, false) {}
  // If `always_legacy` is true, the older rules apply even without `broadcast`.
  BroadcastArguments(const ArgumentHelper& args, bool always_legacy);
};

// Declares the four arguments.
void DeclareBroadcastArguments(OpSchema& schema);

// Two shapes, the shape of their result, and the loops over their elements.
class [[gnu::visibility("default")]] BroadcastPlan {
 public:
  // THROWS if the shapes cannot be broadcast.
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

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Sets marks[i] to 1 for each dimension i of `a` along which `b` is broadcast by the older rules,
// and to 0 for the others. THROWS if the shapes cannot be broadcast.
void MarkBroadcastDims(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments,
                       std::vector<char>* marks);
#pragma GCC visibility pop

// The shape of the result: A's shape by the older rules. THROWS if the shapes cannot be broadcast.
std::vector<int64_t> BroadcastShape(IntArrayRef a, IntArrayRef b,
                                    const BroadcastArguments& arguments);

}  // namespace caffe2rt
