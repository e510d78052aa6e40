#include "caffe2_core/graph/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/operator_test.h"

namespace caffe2rt::memory_plan_test {
namespace {

using Kind = MemoryPlacement::Kind;
using test::ExpectThrows;
using testing::ElementsAre;

using Ops = std::vector<uint32_t>;

TEST(MemoryPlanTest, ReturnsWorkedOffsetsOfAChain) {
  // 0 -> a; a -> b; b -> c; c -> d. While operator 1 runs, a and b are in use, and so on.
  const MemoryRequest request{
      .operators = 4,
      .items = {{400, {0}, {1}}, {400, {1}, {2}}, {200, {2}, {3}}, {100, {3}, {}}},
      .placements = {},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  // Sizes are rounded up to 448, 448, 256 and 128. a and b need 896 bytes together, and c and d fit
  // beside b and in the place of a.
  EXPECT_EQ(plan.arena_bytes, 896u);
  EXPECT_EQ(plan.live_bytes, 896u);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 448, 0, 256));
}

TEST(MemoryPlanTest, ReturnsTheSmallestGapThatIsLargeEnough) {
  // long (64) lives always, big (640) and small (128) in operators 0 and 1, new (128) from 2 on.
  const MemoryRequest request{
      .operators = 4,
      .items = {{640, {0}, {1}}, {64, {0}, {3}}, {128, {0}, {1}}, {128, {2}, {3}}},
      .placements = {},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_EQ(plan.arena_bytes, 832u);
  EXPECT_EQ(plan.live_bytes, 832u);
}

TEST(MemoryPlanTest, ReturnsAnEmptyPlanForNoItems) {
  const MemoryPlan plan =
      PlanMemory({.operators = 0, .items = {}, .placements = {}, .predecessors = {}});
  EXPECT_EQ(plan.arena_bytes, 0u);
  EXPECT_TRUE(plan.offsets.empty());
}

TEST(MemoryPlanTest, PlacesAnOutputInAnInputThatDies) {
  MemoryRequest request{.operators = 3,
                        .items = {{256, {0}, {1}}, {256, {1}, {2}}},
                        .placements = {{Kind::kInPlace, 1, 1, 0, 0}},
                        .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_TRUE(plan.placed[0]);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.arena_bytes, 256u);
  // If operator 2 reads the input again, it must survive.
  request.items[0].reads = {1, 2};
  const MemoryPlan apart = PlanMemory(request);
  EXPECT_FALSE(apart.placed[0]);
  EXPECT_EQ(apart.arena_bytes, 512u);
}

// The operator writes its input as well as the output, so that both are in use.
TEST(MemoryPlanTest, KeepsAnOutputApartFromAnInputThatIsWrittenToo) {
  MemoryRequest request{.operators = 3,
                        .items = {{256, {0, 1}, {1}}, {256, {1}, {2}}},
                        .placements = {{Kind::kInPlace, 1, 1, 0, 0}},
                        .predecessors = {}};
  for (const bool any_order : {false, true}) {
    if (any_order) request.predecessors = {{}, {0}, {1}};
    const MemoryPlan plan = PlanMemory(request);
    EXPECT_FALSE(plan.placed[0]);
    EXPECT_EQ(plan.arena_bytes, 512u);
    EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  }
}

TEST(MemoryPlanTest, PlacesAsManyPartsAsAGroupHas) {
  for (const uint32_t parts : {16u, 17u, 100u, 255u}) {
    MemoryRequest request{
        .operators = parts + 2, .items = {}, .placements = {}, .predecessors = {}};
    for (uint32_t i = 0; i < parts; ++i) {
      request.items.push_back({64, {i}, {parts}});
      request.placements.push_back({Kind::kJoin, parts, i, parts, size_t{64} * i});
    }
    request.items.push_back({size_t{64} * parts, {parts}, {parts + 1}});
    const MemoryPlan plan = PlanMemory(request);
    EXPECT_EQ(std::count(plan.placed.begin(), plan.placed.end(), true), parts);
    EXPECT_EQ(plan.arena_bytes, size_t{64} * parts);
  }
}

TEST(MemoryPlanTest, PlacesThePartsOfAConcat) {
  // 0 -> a; 1 -> b; 2: Concat a b -> c; 3: c -> ; 4: a ->
  const MemoryRequest request{
      .operators = 5,
      .items = {{128, {0}, {2, 4}}, {64, {1}, {2}}, {192, {2}, {3}}},
      .placements = {{Kind::kJoin, 2, 0, 2, 0}, {Kind::kJoin, 2, 1, 2, 128}},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, ElementsAre(true, true));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 128, 0));
  EXPECT_EQ(plan.arena_bytes, 192u);
}

TEST(MemoryPlanTest, KeepsAPartApartThatIsReadAfterTheWholeChanges) {
  // 2: Concat a b -> c; 3: c -> c in place; 4 reads a, which must not have changed.
  const MemoryRequest request{
      .operators = 5,
      .items = {{128, {0}, {2, 4}}, {64, {1}, {2}}, {192, {2, 3}, {3}}},
      .placements = {{Kind::kJoin, 2, 0, 2, 0}, {Kind::kJoin, 2, 1, 2, 128}},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, ElementsAre(false, true));
}

TEST(MemoryPlanTest, KeepsAPartApartThatChangesAfterTheConcat) {
  const MemoryRequest request{
      .operators = 5,
      .items = {{128, {0, 3}, {2, 3}}, {64, {1}, {2}}, {192, {2}, {4}}},
      .placements = {{Kind::kJoin, 2, 0, 2, 0}, {Kind::kJoin, 2, 1, 2, 128}},
      .predecessors = {}};
  EXPECT_THAT(PlanMemory(request).placed, ElementsAre(false, true));
}

TEST(MemoryPlanTest, PlacesConcatsOfConcats) {
  // 2: Concat a b -> c; 4: Concat c d -> e, and Concat a b d -> f, as DenseNet has them.
  const MemoryRequest request{.operators = 7,
                              .items = {{64, {0}, {2, 5}},
                                        {64, {1}, {2, 5}},
                                        {128, {2}, {3, 4}},
                                        {64, {3}, {4, 5}},
                                        {192, {4}, {6}},
                                        {192, {5}, {6}}},
                              .placements = {{Kind::kJoin, 2, 0, 2, 0},
                                             {Kind::kJoin, 2, 1, 2, 64},
                                             {Kind::kJoin, 4, 2, 4, 0},
                                             {Kind::kJoin, 4, 3, 4, 128},
                                             {Kind::kJoin, 5, 0, 5, 0},
                                             {Kind::kJoin, 5, 1, 5, 64},
                                             {Kind::kJoin, 5, 3, 5, 128}},
                              .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, testing::Each(true));
  EXPECT_EQ(plan.arena_bytes, 192u);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 64, 0, 128, 0, 0));
}

TEST(MemoryPlanTest, PlacesTheOutputsOfASplit) {
  const MemoryRequest request{
      .operators = 4,
      .items = {{192, {0}, {1}}, {128, {1}, {2}}, {64, {1, 2}, {3}}},
      .placements = {{Kind::kSplit, 1, 1, 0, 0}, {Kind::kSplit, 1, 2, 0, 128}},
      .predecessors = {}};
  const MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, ElementsAre(true, true));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 128));
  EXPECT_EQ(plan.arena_bytes, 192u);
}

TEST(MemoryPlanTest, KeepsUnalignedPartsApart) {
  const MemoryRequest request{.operators = 3,
                              .items = {{20, {0}, {2}}, {20, {1}, {2}}, {40, {2}, {}}},
                              .placements = {{Kind::kJoin, 2, 0, 2, 0}, {Kind::kJoin, 2, 1, 2, 20}},
                              .predecessors = {}};
  EXPECT_THAT(PlanMemory(request).placed, ElementsAre(true, false));
}

TEST(MemoryPlanTest, SharesInAnyOrderOnlyAlongDependencies) {
  // Two branches: 0 -> 1 -> 2 and 3 -> 4 -> 5, joined by 6.
  MemoryRequest request{.operators = 7,
                        .items = {{64, {0}, {1}},
                                  {64, {1}, {2}},
                                  {64, {2}, {6}},
                                  {64, {3}, {4}},
                                  {64, {4}, {5}},
                                  {64, {5}, {6}}},
                        .placements = {{Kind::kInPlace, 1, 1, 0, 0}},
                        .predecessors = {{}, {0}, {1}, {}, {3}, {4}, {2, 5}}};
  const MemoryPlan any = PlanMemory(request);
  // Two for each branch; the first two values of one branch have the same place.
  EXPECT_EQ(any.arena_bytes, 4u * 64);
  EXPECT_EQ(any.offsets[0], any.offsets[1]);
  EXPECT_THAT(any.placed, ElementsAre(true));
  request.predecessors.clear();
  EXPECT_EQ(PlanMemory(request).arena_bytes, 3u * 64);
}

// Two branches behind a long chain: all positions count, not only the first ones.
TEST(MemoryPlanTest, SharesInAnyOrderOnlyAlongDependenciesOfLateOperators) {
  constexpr uint32_t kChain = 150;
  MemoryRequest request{.operators = kChain + 2,
                        .items = {{64, {kChain}, {}}, {64, {kChain + 1}, {}}},
                        .placements = {},
                        .predecessors = {{}}};
  for (uint32_t i = 1; i < kChain; ++i) request.predecessors.push_back({i - 1});
  request.predecessors.push_back({kChain - 1});
  request.predecessors.push_back({kChain - 1});
  EXPECT_EQ(PlanMemory(request).arena_bytes, 2u * 64);
  request.predecessors.back() = {kChain};
  EXPECT_EQ(PlanMemory(request).arena_bytes, 64u);
}

TEST(MemoryPlanTest, RejectsRequestsThatContradictThemselves) {
  const auto plan = [](MemoryRequest request) { return [request] { (void)PlanMemory(request); }; };
  ExpectThrows(
      plan({.operators = 1, .items = {{8, {1}, {}}}, .placements = {}, .predecessors = {}}),
      "used by operator 1, want below 1");
  ExpectThrows(plan({.operators = 1, .items = {{8, {}, {}}}, .placements = {}, .predecessors = {}}),
               "used by no operator");
  ExpectThrows(plan({.operators = 1,
                     .items = {{8, {0}, {}}, {8, {0}, {}}},
                     .placements = {{Kind::kJoin, 0, 0, 1, 4}},
                     .predecessors = {}}),
               "the first one inside the second one");
  ExpectThrows(plan({.operators = 1,
                     .items = {{8, {0}, {}}},
                     .placements = {{Kind::kInPlace, 0, 0, 0, 0}},
                     .predecessors = {}}),
               "a placement of a memory plan has operator 0, items 0");
  ExpectThrows(
      plan({.operators = 2, .items = {{8, {1, 0}, {}}}, .placements = {}, .predecessors = {}}),
      "the operators that use item 0 of a memory plan are not in ascending order");
  ExpectThrows(
      plan({.operators = 2, .items = {{8, {0}, {}}}, .placements = {}, .predecessors = {{}}}),
      "lists of predecessors of a memory plan: 1, want 2");
  ExpectThrows(
      plan({.operators = 1, .items = {{8, {0}, {}}}, .placements = {}, .predecessors = {{0}}}),
      "predecessor of operator 0");
}

TEST(MemoryPlanTest, RejectsSizesThatOverflow) {
  MemoryRequest request{.operators = 1, .items = {}, .placements = {}, .predecessors = {}};
  request.items.assign(8, {size_t{1} << 60, {0}, {}});
  ExpectThrows([&] { (void)PlanMemory(request); }, "bytes of all items");
  request.items = {{SIZE_MAX, {0}, {}}};
  ExpectThrows([&] { (void)PlanMemory(request); }, "bytes of item 0");
}

// Without placements, two items that are in use at the same time never overlap.
TEST(MemoryPlanTest, SeparatesWhatIsInUseInLargeRequests) {
  for (const uint32_t operators : {100u, 6000u}) {
    std::mt19937 random(operators);
    MemoryRequest request{
        .operators = operators, .items = {}, .placements = {}, .predecessors = {}};
    for (uint32_t op = 0; op < operators; ++op) {
      const uint32_t last = std::min(operators - 1, op + static_cast<uint32_t>(random() % 20));
      request.items.push_back({1 + random() % 5000, {op}, last > op ? Ops{last} : Ops{}});
    }
    const MemoryPlan plan = PlanMemory(request);
    const auto last_use = [&](uint32_t i) {
      const MemoryItem& item = request.items[i];
      return item.reads.empty() ? item.writes.back() : item.reads.back();
    };
    for (uint32_t i = 0; i < operators; ++i) {
      for (uint32_t j = i + 1; j <= last_use(i); ++j) {
        const bool apart = plan.offsets[i] + request.items[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + request.items[j].bytes <= plan.offsets[i];
        ASSERT_TRUE(apart) << i << " and " << j;
      }
    }
    std::printf("%u operators: %.3f times the lower bound\n", operators,
                static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_bytes));
    EXPECT_LE(plan.arena_bytes, plan.live_bytes * 13 / 10);
  }
}

// In any order: for each pair that shares memory, all users of one precede all users of the other.
TEST(MemoryPlanTest, SeparatesWhatMayBeInUseInAnyOrder) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const uint32_t operators = 2 + random() % 40;
    MemoryRequest request{
        .operators = operators, .items = {}, .placements = {}, .predecessors = {}};
    request.predecessors.resize(operators);
    for (uint32_t op = 0; op < operators; ++op) {
      request.items.push_back({1 + random() % 500, {op}, {}});
      for (uint32_t k = random() % 3; op > 0 && k > 0; --k) {
        const uint32_t before = static_cast<uint32_t>(random() % op);
        request.predecessors[op].push_back(before);
        Ops& reads = request.items[before].reads;
        if (reads.empty() || reads.back() != op) reads.push_back(op);
      }
    }
    const MemoryPlan plan = PlanMemory(request);
    // before[a][b]: a path leads from a to b.
    std::vector<std::set<uint32_t>> ancestors(operators);
    for (uint32_t op = 0; op < operators; ++op) {
      for (const uint32_t p : request.predecessors[op]) {
        ancestors[op].insert(p);
        ancestors[op].insert(ancestors[p].begin(), ancestors[p].end());
      }
    }
    const auto users = [&](uint32_t i) {
      Ops all = request.items[i].reads;
      all.push_back(i);
      return all;
    };
    const auto all_before = [&](uint32_t a, uint32_t b) {
      for (const uint32_t x : users(a)) {
        for (const uint32_t y : users(b)) {
          if (!ancestors[y].contains(x)) return false;
        }
      }
      return true;
    };
    for (uint32_t i = 0; i < operators; ++i) {
      for (uint32_t j = i + 1; j < operators; ++j) {
        const bool apart = plan.offsets[i] + request.items[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + request.items[j].bytes <= plan.offsets[i];
        ASSERT_TRUE(apart || all_before(i, j) || all_before(j, i))
            << seed << ": " << i << ", " << j;
      }
    }
  }
}

// Large requests are placed in the order of the operators. The memory of what is no longer in use is
// used again, in one piece with the free memory before and behind it.
TEST(MemoryPlanTest, ReusesFreeMemoryInLargeRequests) {
  struct Use {
    uint32_t blocks, first, last;
  };
  const auto offsets = [](const std::vector<Use>& uses) {
    MemoryRequest request{.operators = 5, .items = {}, .placements = {}, .predecessors = {}};
    for (const Use& use : uses)
      request.items.push_back({size_t{64} * use.blocks, {use.first}, {use.last}});
    request.items.resize(kBySizeLimit + 1, {0, {0}, {}});
    std::vector<size_t> blocks = PlanMemory(request).offsets;
    blocks.resize(uses.size());
    for (size_t& offset : blocks) offset /= 64;
    return blocks;
  };
  // Of exactly this size, smaller, and larger.
  EXPECT_THAT(offsets({{2, 0, 1}, {2, 0, 4}, {2, 2, 4}}), ElementsAre(0, 2, 0));
  EXPECT_THAT(offsets({{2, 0, 1}, {2, 0, 4}, {1, 2, 4}, {1, 3, 4}}), ElementsAre(0, 2, 0, 1));
  EXPECT_THAT(offsets({{2, 0, 1}, {2, 0, 4}, {3, 2, 4}}), ElementsAre(0, 2, 4));
  // Items 0 and 1 are side by side, and either one may be freed first.
  EXPECT_THAT(offsets({{1, 0, 1}, {1, 0, 2}, {1, 0, 4}, {2, 3, 4}}), ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(offsets({{1, 0, 2}, {1, 0, 1}, {1, 0, 4}, {2, 3, 4}}), ElementsAre(0, 1, 2, 0));
  // The smallest of two free pieces, and the free end of the memory, which grows.
  EXPECT_THAT(offsets({{4, 0, 1}, {3, 0, 4}, {2, 0, 1}, {1, 0, 4}, {2, 2, 4}}),
              ElementsAre(0, 4, 7, 9, 7));
  EXPECT_THAT(offsets({{2, 0, 4}, {1, 0, 1}, {3, 2, 4}}), ElementsAre(0, 2, 2));
}

// More operators in any order than are compared, or more items, share no memory.
TEST(MemoryPlanTest, SharesNothingInLargeRequestsInAnyOrder) {
  const auto chain = [](uint32_t operators) {
    MemoryRequest request{.operators = operators,
                          .items = {{64, {0}, {}}, {100, {1}, {}}, {8, {2}, {}}},
                          .placements = {{Kind::kInPlace, 2, 2, 1, 0}},
                          .predecessors = {{}}};
    for (uint32_t i = 1; i < operators; ++i) request.predecessors.push_back({i - 1});
    return PlanMemory(request);
  };
  const MemoryPlan large = chain(kMostAnyOrder + 1);
  EXPECT_THAT(large.offsets, ElementsAre(0, 64, 192));
  EXPECT_EQ(large.arena_bytes, 256u);
  EXPECT_THAT(large.placed, ElementsAre(false));
  EXPECT_EQ(chain(100).arena_bytes, 128u);
  const auto items = [](size_t count) {
    MemoryRequest request{.operators = 2, .items = {}, .placements = {}, .predecessors = {{}, {0}}};
    for (size_t i = 0; i < count; ++i)
      request.items.push_back({64, {static_cast<uint32_t>(i % 2)}, {}});
    return PlanMemory(request);
  };
  EXPECT_EQ(items(kBySizeLimit).arena_bytes, kBySizeLimit / 2 * 64);
  const MemoryPlan many = items(kBySizeLimit + 1);
  EXPECT_EQ(many.arena_bytes, (kBySizeLimit + 1) * 64);
  for (size_t i = 0; i < many.offsets.size(); ++i) ASSERT_EQ(many.offsets[i], i * 64) << i;
}

// 0 -> x; x -> a, b; a, b -> y; x, y -> z. What the last but one operator writes over x is a and b,
// which are already there, in whatever order the placements name them.
TEST(MemoryPlanTest, PutsTogetherWhatWasSplitAndIsStillRead) {
  MemoryRequest request{
      .operators = 4,
      .items = {{128, {0}, {1, 3}}, {64, {1}, {2}}, {64, {1}, {2}}, {128, {2}, {3}}},
      .placements = {{Kind::kSplit, 1, 1, 0, 0},
                     {Kind::kSplit, 1, 2, 0, 64},
                     {Kind::kJoin, 2, 2, 3, 64},
                     {Kind::kJoin, 2, 1, 3, 0}},
      .predecessors = {}};
  MemoryPlan plan = PlanMemory(request);
  EXPECT_THAT(plan.placed, ElementsAre(true, true, true, true));
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 64, 0));
  EXPECT_EQ(plan.arena_bytes, 128u);
  // With b first, y begins where b is, 64 bytes behind x, and ends in memory of its own.
  request.placements[2].offset = 0;
  request.placements[3].offset = 64;
  plan = PlanMemory(request);
  EXPECT_EQ(plan.arena_bytes, 192u);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 0, 64, 64));
  EXPECT_THAT(plan.placed, ElementsAre(true, true, true, false));
}

// Equal items are placed in their order, and the first one of equal gaps is used.
TEST(MemoryPlanTest, BreaksTiesInTheOrderOfTheItems) {
  EXPECT_THAT(PlanMemory({.operators = 2,
                          .items = {{64, {0}, {1}}, {64, {0}, {1}}, {64, {0}, {1}}},
                          .placements = {},
                          .predecessors = {}})
                  .offsets,
              ElementsAre(0, 64, 128));
  // Items 1 and 3 leave gaps of 576 bytes.
  EXPECT_THAT(PlanMemory({.operators = 4,
                          .items = {{640, {0}, {3}},
                                    {576, {0}, {1}},
                                    {576, {0}, {3}},
                                    {576, {0}, {1}},
                                    {576, {0}, {3}},
                                    {64, {2}, {3}}},
                          .placements = {},
                          .predecessors = {}})
                  .offsets,
              ElementsAre(0, 640, 1216, 1792, 2368, 640));
}

}  // namespace
}  // namespace caffe2rt::memory_plan_test
