#pragma once
// How two shapes meet in a binary operator: numpy's rules, and Caffe2's older ones (`broadcast: 1`,
// `axis`).
//
//   const BroadcastArguments arguments(args);           // once, in the constructor
//   plan.Make(A.sizes(), B.sizes(), arguments);         // when the shapes differ
//   Output(0, plan.output_dims(), type);
//   plan.ForEachBlock([&](int64_t a, int64_t b, int64_t y) { ... });    // offsets
//
// numpy: dimensions are compared from the end; they are equal or one of them is 1.
// Older: the dimensions of B match those of A from `axis` on (default: the last ones); the result
// has A's shape. Leading and trailing dimensions of B that are 1 fit anything, a B of one element
// fits everything.
//
// A plan is a plain value and does not allocate after its first use with a rank.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

struct BroadcastArguments {
  bool legacy = false;
  int axis = -1;  // of A, where B begins; -1: B's dimensions are the last ones of A

  BroadcastArguments() = default;
  // Whether two equal shapes meet without a further check: an axis beyond the first fits none of
  // them.
  bool FitsEqualShapes() const { return !legacy || axis == -1 || axis == 0; }
  // Reads broadcast, axis, axis_str and order. THROWS when they contradict each other.
  explicit BroadcastArguments(const ArgumentHelper& args) : BroadcastArguments(args, false) {}
  // With `always_legacy` as if `broadcast` were set.
  BroadcastArguments(const ArgumentHelper& args, bool always_legacy);
};

// Declares the arguments above.
void DeclareBroadcastArguments(OpSchema& schema);

// The shapes as a nest of loops: neighbouring dimensions that move alike are one, those of size 1
// are gone. The two innermost loops are a block: `middle` times `inner` elements.
class BroadcastPlan {
 public:
  struct Loop {
    int64_t size;
    int64_t a_stride;  // 0 or the number of elements that one step moves
    int64_t b_stride;
  };

  // THROWS when the shapes do not fit.
  void Make(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments);

  const std::vector<int64_t>& output_dims() const { return output_dims_; }
  int64_t output_size() const { return output_size_; }
  // a_stride and b_stride of inner are 0 or 1. Of an output without elements the sizes mean
  // nothing.
  const Loop& inner() const { return inner_; }
  const Loop& middle() const { return middle_; }
  // The loops around the block, outermost first.
  int outer_count() const { return outer_count_; }
  const Loop& outer(int i) const { return outer_[static_cast<size_t>(i)]; }

  // Calls function(a, b, y) with the offsets of the first element of each block. REQUIRES:
  // output_size() > 0.
  template <class Function>
  void ForEachBlock(const Function& function) const {
    if (outer_count_ == 0) return function(int64_t{0}, int64_t{0}, int64_t{0});
    std::array<int64_t, Tensor::kMaxRank> index{};
    const int64_t block = inner_.size * middle_.size;
    int64_t a = 0, b = 0;
    for (int64_t y = 0; y < output_size_; y += block) {
      function(a, b, y);
      for (int i = outer_count_ - 1; i >= 0; --i) {
        const Loop& loop = outer_[static_cast<size_t>(i)];
        int64_t& counter = index[static_cast<size_t>(i)];
        a += loop.a_stride;
        b += loop.b_stride;
        if (++counter < loop.size) break;
        counter = 0;
        a -= loop.a_stride * loop.size;
        b -= loop.b_stride * loop.size;
      }
    }
  }

 private:
  void Align(IntArrayRef a, IntArrayRef b, const BroadcastArguments& arguments);
  void Collapse();

  std::vector<int64_t> output_dims_;
  std::vector<int64_t> a_dims_, b_dims_;  // of the output's rank
  int64_t output_size_ = 0;
  Loop inner_{1, 1, 1}, middle_{1, 0, 0};
  std::array<Loop, Tensor::kMaxRank> outer_;  // the first outer_count_ count
  int outer_count_ = 0;
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
