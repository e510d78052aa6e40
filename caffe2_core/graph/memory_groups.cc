#include "caffe2_core/graph/memory_groups.h"

#include <algorithm>
#include <numeric>

namespace caffe2rt {
namespace {

using Kind = MemoryPlacement::Kind;

constexpr size_t kMostMembers = 256;

bool Contains(const std::vector<uint32_t>& sorted, uint32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

MemoryGroups::MemoryGroups(const MemoryRequest& request, const OperatorOrder& order)
    : request_(request),
      order_(order),
      group_(request.items.size()),
      offset_(request.items.size(), 0),
      first_(request.items.size()),
      last_(request.items.size()),
      members_(request.items.size()),
      placed_(request.placements.size(), false),
      by_op_(request.operators),
      work_left_(1000000 + 1000 * static_cast<int64_t>(request.items.size())) {
  std::iota(group_.begin(), group_.end(), 0u);
  for (uint32_t i = 0; i < request.items.size(); ++i) {
    const MemoryItem& item = request.items[i];
    members_[i] = {i};
    first_[i] = UINT32_MAX;
    last_[i] = 0;
    for (const auto* uses : {&item.writes, &item.reads}) {
      for (const uint32_t op : *uses) {
        first_[i] = std::min(first_[i], op);
        last_[i] = std::max(last_[i], op);
      }
    }
  }
  for (uint32_t i = 0; i < request.placements.size(); ++i) {
    by_op_[request.placements[i].op].push_back(i);
  }
}

MemoryGroups::Range MemoryGroups::RangeIn(const Merge& merge, uint32_t item) const {
  const int64_t begin = OffsetIn(merge, item);
  return {begin, begin + static_cast<int64_t>(request_.items[item].bytes)};
}

bool MemoryGroups::Fits(const Merge& merge, const MemoryPlacement& placement) const {
  const auto together = [&](uint32_t item) {
    return group_[item] == merge.moved || group_[item] == merge.kept;
  };
  return together(placement.inner) && together(placement.outer) &&
         OffsetIn(merge, placement.inner) ==
             OffsetIn(merge, placement.outer) + static_cast<int64_t>(placement.offset);
}

void MemoryGroups::TryPlace(uint32_t index) {
  const MemoryPlacement& placement = request_.placements[index];
  const uint32_t inner = placement.inner, outer = placement.outer;
  if (group_[inner] == group_[outer]) return;  // also if it is placed
  if (placement.offset % kArenaAlignment != 0) return;
  const Merge merge = {
      .moved = group_[inner],
      .kept = group_[outer],
      .shift = offset_[outer] + static_cast<int64_t>(placement.offset) - offset_[inner]};
  if (members_[merge.moved].size() + members_[merge.kept].size() > kMostMembers) return;
  if (IsSafe(merge)) Apply(merge);
}

bool MemoryGroups::IsSafe(const Merge& merge) {
  for (const uint32_t a : members_[merge.moved]) {
    for (const uint32_t b : members_[merge.kept]) {
      if (--work_left_ < 0) return false;
      if (!RangeIn(merge, a).Overlaps(RangeIn(merge, b))) continue;
      if (!LeavesIntact(merge, a, b) || !LeavesIntact(merge, b, a)) return false;
    }
  }
  return true;
}

template <class Predicate>
bool MemoryGroups::AllOfUsers(uint32_t item, const Predicate& predicate) {
  for (const auto* uses : {&request_.items[item].writes, &request_.items[item].reads}) {
    work_left_ -= static_cast<int64_t>(uses->size());
    if (!std::all_of(uses->begin(), uses->end(), predicate)) return false;
  }
  return true;
}

bool MemoryGroups::IsInUse(uint32_t item, uint32_t op) {
  if (op < first_[item]) {
    return order_.any() &&
           !AllOfUsers(item, [&](uint32_t user) { return order_.IsBefore(op, user); });
  }
  if (op > last_[item]) {
    return order_.any() &&
           !AllOfUsers(item, [&](uint32_t user) { return order_.IsBefore(user, op); });
  }
  return true;
}

// Whether all other users of the item have ended when `op` starts.
bool MemoryGroups::IsLastUse(uint32_t item, uint32_t op) {
  if (last_[item] != op) return false;
  return !order_.any() ||
         AllOfUsers(item, [&](uint32_t user) { return user == op || order_.IsBefore(user, op); });
}

// Whether another operator may use the item at the same time as `op`.
bool MemoryGroups::IsUsedMeanwhile(uint32_t item, uint32_t op) {
  return order_.any() && !AllOfUsers(item, [&](uint32_t user) {
           return user == op || order_.IsBefore(user, op) || order_.IsBefore(op, user);
         });
}

bool MemoryGroups::LeavesIntact(const Merge& merge, uint32_t writer, uint32_t item) {
  for (const uint32_t op : request_.items[writer].writes) {
    if (--work_left_ < 0) return false;
    if (!IsInUse(item, op)) continue;
    if (OverwritesAt(merge, op, writer, item)) return false;
  }
  return true;
}

// Whether operator `op`, by writing `writer`, changes memory of `item`. REQUIRES: `item` is in use at
// `op`.
bool MemoryGroups::OverwritesAt(const Merge& merge, uint32_t op, uint32_t writer, uint32_t item) {
  const Range written = RangeIn(merge, writer), kept = RangeIn(merge, item);
  parts_.clear();  // the parts of `written` that the operator does not touch
  for (const uint32_t index : by_op_[op]) {
    if (--work_left_ < 0) return true;
    const MemoryPlacement& placement = request_.placements[index];
    if (!Fits(merge, placement)) continue;
    switch (placement.kind) {
      case Kind::kInPlace:
        // The operator is the last one that reads `item`.
        if (placement.inner == writer && placement.outer == item && IsLastUse(item, op) &&
            !Contains(request_.items[item].writes, op)) {
          return false;
        }
        break;
      case Kind::kSplit:
        if (placement.inner == writer &&
            (!placement.may_copy || (placement.outer == item && !IsUsedMeanwhile(item, op)))) {
          return false;
        }
        break;
      case Kind::kJoin:
        if (placement.outer == writer &&
            (!placement.may_copy || (placement.inner == item && !IsUsedMeanwhile(item, op)))) {
          parts_.push_back(RangeIn(merge, placement.inner));
        }
        break;
    }
  }
  // Subtract the untouched parts from the memory that both items have in common.
  Range common = {std::max(written.begin, kept.begin), std::min(written.end, kept.end)};
  std::sort(parts_.begin(), parts_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (const Range& part : parts_) {
    if (part.begin <= common.begin) common.begin = std::max(common.begin, part.end);
  }
  return common.begin < common.end;
}

void MemoryGroups::Apply(const Merge& merge) {
  for (const uint32_t item : members_[merge.moved]) {
    // A placement of an operator that uses the item may be realized by this merge.
    for (const auto* uses : {&request_.items[item].writes, &request_.items[item].reads}) {
      for (const uint32_t op : *uses) {
        for (const uint32_t index : by_op_[op]) {
          if (Fits(merge, request_.placements[index])) placed_[index] = true;
        }
      }
    }
  }
  std::vector<uint32_t>& kept = members_[merge.kept];
  for (const uint32_t item : members_[merge.moved]) {
    offset_[item] += merge.shift;
    kept.push_back(item);
  }
  for (const uint32_t item : members_[merge.moved]) group_[item] = merge.kept;
  members_[merge.moved] = {};
}

}  // namespace caffe2rt
