#pragma once
// OperatorOrder: which operators of a memory request end before which others start. Internal to
// memory_plan.cc and memory_groups.cc.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "caffe2_core/graph/memory_plan.h"

namespace caffe2rt {

// Immutable after construction. Needs n^2 bits for n operators in any order.
class OperatorOrder {
 public:
  // REQUIRES: the request is valid.
  explicit OperatorOrder(const MemoryRequest& request)
      : any_(!request.predecessors.empty()), words_((size_t{request.operators} + 63) / 64) {
    if (!any_ || !is_known()) return;
    before_.resize(words_ * request.operators, 0);
    for (uint32_t op = 0; op < request.operators; ++op) {
      uint64_t* const own = before_.data() + words_ * op;
      for (const uint32_t other : request.predecessors[op]) {
        for (size_t word = 0; word < words_; ++word) own[word] |= before(other)[word];
        own[other / 64] |= uint64_t{1} << other % 64;
      }
    }
  }
  OperatorOrder(const OperatorOrder&) = delete;
  OperatorOrder& operator=(const OperatorOrder&) = delete;

  // False if the operators run one after the other, in the order of their positions.
  bool any() const { return any_; }
  // False for more than kMostAnyOrder operators in any order; then only any() may be called.
  bool is_known() const { return !any_ || words_ <= (kMostAnyOrder + 63) / 64; }
  bool IsBefore(uint32_t a, uint32_t b) const {
    return any_ ? (before(b)[a / 64] >> a % 64 & 1) != 0 : a < b;
  }
  // In any order: the set of operators that end before `op` starts, as words() words.
  const uint64_t* before(uint32_t op) const { return before_.data() + words_ * op; }
  size_t words() const { return words_; }

 private:
  const bool any_;
  const size_t words_;
  std::vector<uint64_t> before_;
};

}  // namespace caffe2rt
