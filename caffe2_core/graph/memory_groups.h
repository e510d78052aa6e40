#pragma once
// Groups of items whose memory overlaps on purpose, because placements were realized. Internal to
// memory_plan.cc.

#include <cstdint>
#include <vector>

#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/graph/operator_order.h"

namespace caffe2rt {

// At first each item is a group of its own, at offset 0. Realizing a placement merges the groups of
// its two items.
//
// Invariant: no operator of the net writes memory while an item of the same group is in use there,
// unless a placement allows it. An item is in use at all operators, apart from those that end before
// the first of its users starts, and those that start after the last one has ended.
//
// A merge checks each pair of items, one from each group. The number of members of a group and the
// total number of checks are limited, so that all merges together take nearly linear time.
class MemoryGroups {
 public:
  // REQUIRES: the request is valid; it and its order outlive this object.
  MemoryGroups(const MemoryRequest& request, const OperatorOrder& order);

  // Realizes the placement if the invariant allows it, and other placements that the same merge
  // realizes.
  void TryPlace(uint32_t placement);

  bool placed(uint32_t placement) const { return placed_[placement]; }
  uint32_t group_of(uint32_t item) const { return group_[item]; }
  // The items of a group; empty if the group was merged into another one.
  const std::vector<uint32_t>& members(uint32_t group) const { return members_[group]; }
  // Relative to the other items of the group; may be negative.
  int64_t offset_of(uint32_t item) const { return offset_[item]; }
  uint32_t first_use(uint32_t item) const { return first_[item]; }
  uint32_t last_use(uint32_t item) const { return last_[item]; }

 private:
  struct Range {
    int64_t begin, end;
    bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  };
  // A merge under test: the items of `moved` are shifted.
  struct Merge {
    uint32_t moved, kept;
    int64_t shift;
  };

  int64_t OffsetIn(const Merge& merge, uint32_t item) const {
    return offset_[item] + (group_[item] == merge.moved ? merge.shift : 0);
  }
  Range RangeIn(const Merge& merge, uint32_t item) const;
  // Whether the items of the placement are where it wants them to be, after the merge.
  bool Fits(const Merge& merge, const MemoryPlacement& placement) const;
  bool IsSafe(const Merge& merge);
  // Whether the writes of `writer` leave the value of `item` intact.
  bool LeavesIntact(const Merge& merge, uint32_t writer, uint32_t item);
  bool OverwritesAt(const Merge& merge, uint32_t op, uint32_t writer, uint32_t item);
  bool IsInUse(uint32_t item, uint32_t op);
  bool IsLastUse(uint32_t item, uint32_t op);
  bool IsUsedMeanwhile(uint32_t item, uint32_t op);
  template <class Predicate>
  bool AllOfUsers(uint32_t item, const Predicate& predicate);
  void Apply(const Merge& merge);

  const MemoryRequest& request_;
  const OperatorOrder& order_;
  std::vector<uint32_t> group_;  // by item, as all vectors below unless stated otherwise
  std::vector<int64_t> offset_;
  std::vector<uint32_t> first_, last_;
  std::vector<std::vector<uint32_t>> members_;  // by group
  std::vector<bool> placed_;                    // by placement
  std::vector<std::vector<uint32_t>> by_op_;    // the placements of each operator
  std::vector<Range> parts_;                    // scratch of OverwritesAt
  int64_t work_left_;
};

}  // namespace caffe2rt
