// Memory plans of random requests, checked by executing them on bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "caffe2_core/graph/memory_plan.h"

namespace caffe2rt::memory_plan_random_test {
namespace {

using Kind = MemoryPlacement::Kind;
using Ops = std::vector<uint32_t>;

// Executes a plan: writes a value of its own into the bytes of each item, and checks at every read
// that nothing else has overwritten it. Concat and Split copy only what the plan has not placed.
class Machine {
 public:
  Machine(const MemoryRequest& request, const MemoryPlan& plan)
      : request_(request),
        plan_(plan),
        memory_(plan.arena_bytes, 0),
        values_(request.items.size()) {}

  void Run() {
    for (uint32_t op = 0; op < request_.operators; ++op) {
      CheckReads(op);
      WriteAll(op);
    }
  }

  // Runs the operators in a random order that respects their dependencies, some at the same time.
  void RunInAnyOrder(uint32_t seed) {
    enum Phase { kWaits, kHasBegun, kHasWritten, kHasEnded };
    std::mt19937 random(seed);
    std::vector<Phase> phases(request_.operators, kWaits);
    const auto may_go_on = [&](uint32_t op) {
      const Ops& before = request_.predecessors[op];
      return phases[op] != kHasEnded && std::all_of(before.begin(), before.end(), [&](uint32_t b) {
               return phases[b] == kHasEnded;
             });
    };
    for (uint32_t left = 3 * request_.operators; left > 0;) {
      const auto op = static_cast<uint32_t>(random() % request_.operators);
      if (!may_go_on(op)) continue;
      if (phases[op] != kHasWritten) CheckReads(op);  // when it begins, and again when it writes
      if (phases[op] == kHasBegun) WriteAll(op);
      if (phases[op] == kHasWritten) CheckWrites(op);
      phases[op] = static_cast<Phase>(phases[op] + 1);
      --left;
    }
  }

 private:
  static bool Contains(const Ops& ops, uint32_t op) {
    return std::count(ops.begin(), ops.end(), op) > 0;
  }
  void CheckReads(uint32_t op) const {
    for (uint32_t i = 0; i < request_.items.size(); ++i) {
      if (Contains(request_.items[i].reads, op) && !values_[i].empty()) Check(op, i);
    }
  }
  void CheckWrites(uint32_t op) const {
    for (uint32_t i = 0; i < request_.items.size(); ++i) {
      if (Contains(request_.items[i].writes, op)) Check(op, i);
    }
  }
  void WriteAll(uint32_t op) {
    for (uint32_t i = 0; i < request_.items.size(); ++i) {
      if (Contains(request_.items[i].writes, op)) Write(op, i);
    }
  }
  void Check(uint32_t op, uint32_t item) const {
    ASSERT_TRUE(std::equal(values_[item].begin(), values_[item].end(),
                           memory_.begin() + static_cast<ptrdiff_t>(plan_.offsets[item])))
        << "operator " << op << " reads item " << item << ", which was overwritten";
  }

  // What the operator computes for the item: a Concat the values of its parts, a Split a part of its
  // input, another operator new values.
  void Write(uint32_t op, uint32_t item) {
    std::vector<uint8_t> value(request_.items[item].bytes);
    std::vector<bool> touched(value.size(), true);
    for (uint8_t& byte : value) byte = static_cast<uint8_t>(random_());
    for (size_t p = 0; p < request_.placements.size(); ++p) {
      const MemoryPlacement& placement = request_.placements[p];
      if (placement.op != op) continue;
      const auto at = static_cast<ptrdiff_t>(placement.offset);
      if (placement.kind == Kind::kJoin && placement.outer == item) {
        const std::vector<uint8_t>& part = values_[placement.inner];
        std::copy(part.begin(), part.end(), value.begin() + at);
        if (plan_.placed[p]) {
          ASSERT_EQ(plan_.offsets[placement.inner], plan_.offsets[item] + placement.offset);
          std::fill_n(touched.begin() + at, part.size(), false);
        }
      }
      if (placement.kind == Kind::kSplit && placement.inner == item) {
        const std::vector<uint8_t>& whole = values_[placement.outer];
        std::copy_n(whole.begin() + at, value.size(), value.begin());
        if (plan_.placed[p]) std::fill(touched.begin(), touched.end(), false);
      }
    }
    for (size_t i = 0; i < value.size(); ++i) {
      if (touched[i]) memory_[plan_.offsets[item] + i] = value[i];
    }
    values_[item] = value;
    Check(op, item);
  }

  const MemoryRequest& request_;
  const MemoryPlan& plan_;
  std::vector<uint8_t> memory_;
  std::vector<std::vector<uint8_t>> values_;  // what each item should hold; empty: nothing yet
  std::mt19937 random_{7};
};

class RandomRequest {
 public:
  explicit RandomRequest(uint32_t seed) : random_(seed) {}

  MemoryRequest Make() {
    const uint32_t operators = 3 + Below(30);
    request_.operators = operators;
    for (uint32_t op = 0; op < operators; ++op) {
      const uint32_t kind = Below(10);
      if (kind < 2) {
        AddConcat(op);
      } else if (kind < 3) {
        AddSplit(op);
      } else {
        AddOperator(op);
      }
    }
    return request_;
  }

 private:
  uint32_t Below(uint32_t limit) {
    return std::uniform_int_distribution<uint32_t>(0, limit - 1)(random_);
  }
  uint32_t NewItem(size_t bytes, uint32_t op) {
    request_.items.push_back({bytes, {op}, {}});
    return static_cast<uint32_t>(request_.items.size() - 1);
  }
  void Read(uint32_t item, uint32_t op) {
    Ops& reads = request_.items[item].reads;
    if (reads.empty() || reads.back() != op) reads.push_back(op);
  }
  bool WrittenAt(uint32_t item, uint32_t op) const {
    return request_.items[item].writes.back() == op;
  }

  void AddOperator(uint32_t op) {
    const uint32_t y = NewItem(Below(4) == 0 ? 64 * (1 + Below(4)) : 1 + Below(300), op);
    for (uint32_t i = Below(3); i > 0; --i) {
      const uint32_t x = Below(y + 1);
      if (x == y || WrittenAt(x, op)) continue;
      Read(x, op);
      if (Below(2) == 0) {
        request_.items[y].bytes = request_.items[x].bytes;
        request_.placements.push_back({Kind::kInPlace, op, y, x, 0});
        break;
      }
    }
    // Sometimes an operator also changes an item in place.
    const uint32_t x = Below(y + 1);
    if (Below(6) == 0 && x != y && !WrittenAt(x, op)) {
      Read(x, op);
      request_.items[x].writes.push_back(op);
    }
  }

  void AddConcat(uint32_t op) {
    std::vector<uint32_t> parts(request_.items.size());
    std::iota(parts.begin(), parts.end(), 0u);
    std::shuffle(parts.begin(), parts.end(), random_);
    parts.resize(std::min<size_t>(parts.size(), 1 + Below(4)));
    std::vector<MemoryPlacement> placements;
    size_t offset = 0;
    const auto y = static_cast<uint32_t>(request_.items.size());
    for (const uint32_t part : parts) {
      Read(part, op);
      placements.push_back({Kind::kJoin, op, part, y, offset});
      offset += request_.items[part].bytes;
    }
    NewItem(std::max<size_t>(offset, 1), op);
    request_.placements.insert(request_.placements.end(), placements.begin(), placements.end());
  }

  void AddSplit(uint32_t op) {
    if (request_.items.empty()) return AddOperator(op);
    const uint32_t x = Below(static_cast<uint32_t>(request_.items.size()));
    Read(x, op);
    size_t offset = 0;
    const size_t bytes = request_.items[x].bytes;
    while (offset < bytes) {
      const size_t part = std::min<size_t>(bytes - offset, 64 * (1 + Below(2)));
      request_.placements.push_back({Kind::kSplit, op, NewItem(part, op), x, offset});
      offset += part;
    }
  }

  std::mt19937 random_;
  MemoryRequest request_;
};

TEST(MemoryPlanRandomTest, KeepsEveryValueOfRandomRequests) {
  size_t arena = 0, live = 0, placed = 0, placements = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const MemoryRequest request = RandomRequest(seed).Make();
    const MemoryPlan plan = PlanMemory(request);
    Machine(request, plan).Run();
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    ASSERT_GE(plan.arena_bytes, plan.live_bytes) << "seed " << seed;
    for (const size_t offset : plan.offsets) ASSERT_EQ(offset % kArenaAlignment, 0u);
    arena += plan.arena_bytes;
    live += plan.live_bytes;
    placed += static_cast<size_t>(std::count(plan.placed.begin(), plan.placed.end(), true));
    placements += plan.placed.size();
  }
  std::printf("arenas: %.4f times the lower bound; %zu of %zu placements realized\n",
              static_cast<double>(arena) / static_cast<double>(live), placed, placements);
  EXPECT_LE(static_cast<double>(arena), 1.05 * static_cast<double>(live));
  EXPECT_GT(placed, placements / 4);
}

// The operators that must end before each one starts: the last one that wrote what it reads or
// writes, and for what it writes also those that have read it since.
std::vector<Ops> PredecessorsOf(const MemoryRequest& request) {
  std::vector<Ops> predecessors(request.operators);
  for (const MemoryItem& item : request.items) {
    Ops readers;
    uint32_t writer = UINT32_MAX;
    for (uint32_t op = 0; op < request.operators; ++op) {
      const bool writes = std::count(item.writes.begin(), item.writes.end(), op) > 0;
      const bool reads = std::count(item.reads.begin(), item.reads.end(), op) > 0;
      if (!reads && !writes) continue;
      if (writer != UINT32_MAX) predecessors[op].push_back(writer);
      if (!writes) {
        readers.push_back(op);
        continue;
      }
      predecessors[op].insert(predecessors[op].end(), readers.begin(), readers.end());
      readers.clear();
      writer = op;
    }
  }
  return predecessors;
}

TEST(MemoryPlanRandomTest, KeepsEveryValueOfRandomRequestsInAnyOrder) {
  size_t placed = 0, placements = 0, arena = 0, all = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    MemoryRequest request = RandomRequest(seed).Make();
    request.predecessors = PredecessorsOf(request);
    if (seed % 3 == 0) {  // layouts that are known only when the operator runs
      for (MemoryPlacement& placement : request.placements) {
        placement.may_copy = placement.kind != Kind::kInPlace;
      }
    }
    const MemoryPlan plan = PlanMemory(request);
    for (uint32_t order = 0; order < 5; ++order) {
      Machine(request, plan).RunInAnyOrder(order);
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " order " << order;
    }
    placed += static_cast<size_t>(std::count(plan.placed.begin(), plan.placed.end(), true));
    placements += plan.placed.size();
    arena += plan.arena_bytes;
    for (const MemoryItem& item : request.items) all += item.bytes;
  }
  std::printf("any order: %zu of %zu placements realized, %.3f of the bytes of all items\n", placed,
              placements, static_cast<double>(arena) / static_cast<double>(all));
  EXPECT_GT(placed, placements / 10);
}

TEST(MemoryPlanRandomTest, ReturnsTheSamePlanEachTime) {
  const MemoryRequest request = RandomRequest(17).Make();
  const MemoryPlan first = PlanMemory(request), second = PlanMemory(request);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.placed, second.placed);
}

}  // namespace
}  // namespace caffe2rt::memory_plan_random_test
