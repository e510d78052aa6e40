#include "caffe2_core/graph/memory_plan.h"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <set>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/memory_groups.h"

namespace caffe2rt {
namespace {

// The memory of a group of items, without the order of operators: `first` and `last` are the first
// and the last operator that use it.
struct Buffer {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;
  uint32_t group = 0;
};

size_t Aligned(size_t bytes) {
  return CheckedAdd(bytes, kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

void CheckRequest(const MemoryRequest& request) {
  const size_t items = request.items.size();
  size_t total = 0;
  for (size_t i = 0; i < items; ++i) {
    const MemoryItem& item = request.items[i];
    // Offsets are signed while groups are merged.
    CAFFE_ENFORCE_LE(item.bytes, static_cast<size_t>(INT64_MAX / 4), "bytes of item ", i,
                     " of a memory plan");
    total = CheckedAdd(total, Aligned(item.bytes));
    CAFFE_ENFORCE(!item.writes.empty() || !item.reads.empty(), "item ", i,
                  " of a memory plan is used by no operator");
    for (const auto* uses : {&item.writes, &item.reads}) {
      CAFFE_ENFORCE(std::is_sorted(uses->begin(), uses->end()), "the operators that use item ", i,
                    " of a memory plan are not in ascending order");
      CAFFE_ENFORCE(uses->empty() || uses->back() < request.operators, "item ", i,
                    " of a memory plan is used by operator ", uses->empty() ? 0 : uses->back(),
                    ", want below ", request.operators);
    }
  }
  CAFFE_ENFORCE_LE(total, static_cast<size_t>(INT64_MAX / 4),
                   "bytes of all items of a memory plan");
  for (const MemoryPlacement& placement : request.placements) {
    CAFFE_ENFORCE(placement.op < request.operators && placement.inner < items &&
                      placement.outer < items && placement.inner != placement.outer &&
                      placement.offset <= request.items[placement.outer].bytes &&
                      request.items[placement.inner].bytes <=
                          request.items[placement.outer].bytes - placement.offset,
                  "a placement of a memory plan has operator ", placement.op, ", items ",
                  placement.inner, " and ", placement.outer, " and offset ", placement.offset,
                  ", want items of the request, the first one inside the second one");
  }
  CAFFE_ENFORCE(request.predecessors.empty() || request.predecessors.size() == request.operators,
                "lists of predecessors of a memory plan: ", request.predecessors.size(), ", want ",
                request.operators);
  for (size_t op = 0; op < request.predecessors.size(); ++op) {
    for (const uint32_t before : request.predecessors[op]) {
      CAFFE_ENFORCE_LT(before, op, "predecessor of operator ", op, " of a memory plan");
    }
  }
}

std::vector<Buffer> BuffersOf(const MemoryRequest& request, const MemoryGroups& groups,
                              std::vector<int64_t>* begins) {
  std::vector<Buffer> buffers;
  begins->assign(request.items.size(), 0);
  for (uint32_t group = 0; group < request.items.size(); ++group) {
    if (groups.members(group).empty()) continue;
    Buffer buffer = {.bytes = 0, .first = UINT32_MAX, .last = 0, .group = group};
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (const uint32_t item : groups.members(group)) {
      begin = std::min(begin, groups.offset_of(item));
      end = std::max(end, groups.offset_of(item) + static_cast<int64_t>(request.items[item].bytes));
      buffer.first = std::min(buffer.first, groups.first_use(item));
      buffer.last = std::max(buffer.last, groups.last_use(item));
    }
    (*begins)[group] = begin;
    buffer.bytes = Aligned(static_cast<size_t>(end - begin));
    buffers.push_back(buffer);
  }
  return buffers;
}

size_t LiveBytes(const std::vector<Buffer>& buffers, uint32_t operators) {
  std::vector<int64_t> change(size_t{operators} + 1, 0);
  for (const Buffer& buffer : buffers) {
    change[buffer.first] += static_cast<int64_t>(buffer.bytes);
    change[buffer.last + 1] -= static_cast<int64_t>(buffer.bytes);
  }
  int64_t live = 0, most = 0;
  for (const int64_t bytes : change) most = std::max(most, live += bytes);
  return static_cast<size_t>(most);
}

size_t EndOf(const std::vector<Buffer>& buffers, const std::vector<size_t>& offsets) {
  size_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) end = std::max(end, offsets[i] + buffers[i].bytes);
  return end;
}

// The buffers, largest first; equal ones in the order in which they are needed.
std::vector<uint32_t> BySize(const std::vector<Buffer>& buffers) {
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (buffers[a].bytes != buffers[b].bytes) return buffers[a].bytes > buffers[b].bytes;
    return buffers[a].first < buffers[b].first;
  });
  return order;
}

// Places each buffer into the smallest gap that is large enough between the buffers that were placed
// before and conflict with it. `conflict(a, b)` returns whether two buffers may not share memory.
template <class Conflict>
std::vector<size_t> PlaceBySize(const std::vector<Buffer>& buffers, const Conflict& conflict) {
  std::vector<size_t> offsets(buffers.size(), 0);
  std::vector<uint32_t> by_offset;  // the placed buffers, in the order of their offsets
  for (const uint32_t next : BySize(buffers)) {
    const size_t bytes = buffers[next].bytes;
    size_t free = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    for (const uint32_t other : by_offset) {
      if (!conflict(next, other)) continue;
      const size_t begin = offsets[other], end = begin + buffers[other].bytes;
      if (begin >= free && begin - free >= bytes && begin - free < best_gap) {
        best = free;
        best_gap = begin - free;
      }
      free = std::max(free, end);
    }
    offsets[next] = best != SIZE_MAX ? best : free;
    const auto place =
        std::upper_bound(by_offset.begin(), by_offset.end(), next, [&](uint32_t a, uint32_t b) {
          return offsets[a] != offsets[b] ? offsets[a] < offsets[b] : a < b;
        });
    by_offset.insert(place, next);
  }
  return offsets;
}

// Free blocks of an arena that grows at its end.
class FreeBlocks {
 public:
  // The smallest free block that is large enough; if there is none, the arena grows.
  size_t Allocate(size_t bytes) {
    if (bytes == 0) return 0;
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, offset] = *fit;
      Remove(offset, size);
      if (size > bytes) Add(offset + bytes, size - bytes);
      return offset;
    }
    size_t offset = end_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *by_offset_.rbegin();
      if (last + size == end_) {
        Remove(last, size);
        offset = last;
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void Free(size_t offset, size_t bytes) {
    if (bytes == 0) return;
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && offset + bytes == after->first) {
      const size_t size = after->second;
      Remove(offset + bytes, size);
      bytes += size;
    }
    auto before = by_offset_.lower_bound(offset);
    if (before != by_offset_.begin()) {
      --before;
      const auto [begin, size] = *before;
      if (begin + size == offset) {
        Remove(begin, size);
        offset = begin;
        bytes += size;
      }
    }
    Add(offset, bytes);
  }

 private:
  void Add(size_t offset, size_t size) {
    by_offset_[offset] = size;
    by_size_.insert({size, offset});
  }
  void Remove(size_t offset, size_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }
  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;  // size, offset
  size_t end_ = 0;
};

// Places the buffers in the order in which they are needed, with best fit.
std::vector<size_t> PlaceByTime(const std::vector<Buffer>& buffers, uint32_t operators) {
  std::vector<std::vector<uint32_t>> begins(operators), ends(operators);
  for (const uint32_t i : BySize(buffers)) {
    begins[buffers[i].first].push_back(i);
    ends[buffers[i].last].push_back(i);
  }
  std::vector<size_t> offsets(buffers.size(), 0);
  FreeBlocks blocks;
  for (uint32_t op = 0; op < operators; ++op) {
    for (const uint32_t i : begins[op]) offsets[i] = blocks.Allocate(buffers[i].bytes);
    for (const uint32_t i : ends[op]) blocks.Free(offsets[i], buffers[i].bytes);
  }
  return offsets;
}

std::vector<size_t> PlaceInOrder(const std::vector<Buffer>& buffers, uint32_t operators) {
  std::vector<size_t> by_time = PlaceByTime(buffers, operators);
  if (buffers.size() > kBySizeLimit) return by_time;
  std::vector<size_t> by_size = PlaceBySize(buffers, [&](uint32_t a, uint32_t b) {
    return buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
  });
  return EndOf(buffers, by_size) <= EndOf(buffers, by_time) ? by_size : by_time;
}

// For operators that run in any order that respects their dependencies: two buffers may share memory
// if all operators that use one of them run after all operators that use the other one.
class AnyOrder {
 public:
  AnyOrder(const MemoryRequest& request, const OperatorOrder& order, const MemoryGroups& groups,
           const std::vector<Buffer>& buffers)
      : words_(order.words()) {
    for (const Buffer& buffer : buffers) {
      Bits users(words_, 0), before_all(words_, ~uint64_t{0});
      for (const uint32_t item : groups.members(buffer.group)) {
        for (const auto* uses : {&request.items[item].writes, &request.items[item].reads}) {
          for (const uint32_t op : *uses) {
            users[op / 64] |= uint64_t{1} << (op % 64);
            for (size_t w = 0; w < words_; ++w) before_all[w] &= order.before(op)[w];
          }
        }
      }
      users_.push_back(std::move(users));
      before_all_.push_back(std::move(before_all));
    }
  }
  bool Conflict(uint32_t a, uint32_t b) const { return !IsBefore(a, b) && !IsBefore(b, a); }

 private:
  using Bits = std::vector<uint64_t>;
  bool IsBefore(uint32_t a, uint32_t b) const {
    for (size_t w = 0; w < words_; ++w) {
      if ((users_[a][w] & ~before_all_[b][w]) != 0) return false;
    }
    return true;
  }
  const size_t words_;
  std::vector<Bits> users_, before_all_;  // by buffer
};

std::vector<size_t> PlaceOneAfterAnother(const std::vector<Buffer>& buffers) {
  std::vector<size_t> offsets;
  size_t end = 0;
  for (const Buffer& buffer : buffers) {
    offsets.push_back(end);
    end += buffer.bytes;
  }
  return offsets;
}

std::vector<size_t> PlaceInAnyOrder(const MemoryRequest& request, const OperatorOrder& order,
                                    const MemoryGroups& groups,
                                    const std::vector<Buffer>& buffers) {
  if (!order.is_known() || buffers.size() > kBySizeLimit) return PlaceOneAfterAnother(buffers);
  const AnyOrder any_order(request, order, groups, buffers);
  return PlaceBySize(buffers, [&](uint32_t a, uint32_t b) { return any_order.Conflict(a, b); });
}

}  // namespace

MemoryPlan PlanMemory(const MemoryRequest& request) try {
  CheckRequest(request);
  const bool in_order = request.predecessors.empty();
  const OperatorOrder order(request);
  MemoryGroups groups(request, order);
  const auto placements = static_cast<uint32_t>(request.placements.size());
  for (uint32_t i = 0; order.is_known() && i < placements; ++i) groups.TryPlace(i);
  std::vector<int64_t> begins;  // by group
  const std::vector<Buffer> buffers = BuffersOf(request, groups, &begins);
  const std::vector<size_t> offsets = in_order ? PlaceInOrder(buffers, request.operators)
                                               : PlaceInAnyOrder(request, order, groups, buffers);
  MemoryPlan plan;
  plan.offsets.resize(request.items.size());
  plan.placed.resize(placements);
  for (uint32_t i = 0; i < placements; ++i) plan.placed[i] = groups.placed(i);
  for (size_t k = 0; k < buffers.size(); ++k) {
    const uint32_t group = buffers[k].group;
    for (const uint32_t item : groups.members(group)) {
      plan.offsets[item] = offsets[k] + static_cast<size_t>(groups.offset_of(item) - begins[group]);
    }
  }
  plan.arena_bytes = EndOf(buffers, offsets);
  plan.live_bytes = LiveBytes(buffers, request.operators);
  return plan;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
