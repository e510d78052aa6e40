#include "caffe2_core/model/memory_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/memory_budget.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::memory_arena_test {
namespace {

TEST(MemoryArenaTest, KeepsMemoryThatIsLargeEnough) {
  MemoryArena arena(0);
  EXPECT_EQ(arena.id(), 0u);
  arena.Reserve(1000);
  const uint64_t id = arena.id();
  const char* const data = arena.data();
  EXPECT_NE(id, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  arena.Reserve(500);
  EXPECT_EQ(arena.id(), id);
  EXPECT_EQ(arena.data(), data);
  arena.Reserve(2000);
  EXPECT_GE(arena.bytes(), 2000u);
  EXPECT_GT(arena.id(), id);
  arena.Free();
  EXPECT_EQ(arena.id(), 0u);
  EXPECT_EQ(arena.bytes(), 0u);
}

// An allocator that keeps what is freed, as the C library does with memory below its threshold.
class KeepingAllocator final : public CPUAllocator {
 public:
  static constexpr size_t kBytes = 16 * 4096;

  KeepingAllocator()
      : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  }
  ~KeepingAllocator() override { munmap(memory_, kBytes); }
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override {
    CAFFE_ENFORCE_LE(nbytes, kBytes, "bytes of the only allocation");
    return {memory_, GetDeleter()};
  }
  MemoryDeleter GetDeleter() override {
    return MemoryDeleter([](void*) {});
  }

 private:
  void* const memory_;
};

// Regression: the pages of arenas that idle instances had freed stayed in the process.
TEST(MemoryArenaTest, GivesPagesBackThatTheAllocatorKeeps) {
  SetCPUAllocator(new KeepingAllocator);
  MemoryArena arena(0);
  arena.Reserve(KeepingAllocator::kBytes);
  char* const data = arena.data();
  std::fill_n(data, KeepingAllocator::kBytes, 'x');
  arena.Free();
  SetCPUAllocator(new DefaultCPUAllocator);
  // Anonymous memory reads as zeros when its pages were released.
  EXPECT_EQ(std::count(data, data + KeepingAllocator::kBytes, 'x'), 0);
}

TEST(ArenaStockTest, LeasesThePreferredArena) {
  ArenaStock stock;
  MemoryArena* const first = stock.Lease(nullptr);
  MemoryArena* const second = stock.Lease(nullptr);
  EXPECT_NE(first, second);
  stock.Return(first);
  stock.Return(second);
  EXPECT_EQ(stock.Lease(second), second);
  EXPECT_EQ(stock.Lease(second), first);  // another one, because the preferred one is leased
  stock.Return(first);
  stock.Return(second);
}

TEST(ArenaStockTest, FreesSurplusArenasWhenNoneIsLeased) {
  ArenaStock stock(/*idle_arenas=*/1);
  MemoryArena* const first = stock.Lease(nullptr);
  MemoryArena* const second = stock.Lease(nullptr);
  first->Reserve(1000);
  second->Reserve(1000);
  stock.Return(second);
  EXPECT_EQ(stock.bytes(), 2000u);  // the first one is still leased
  stock.Return(first);
  EXPECT_EQ(stock.bytes(), 1000u);
}

TEST(ArenaStockTest, KeepsAtMostTheConfiguredNumberOfIdleArenas) {
  for (const int idle : {0, 2, 3}) {
    ArenaStock stock(idle);
    MemoryArena* arenas[3];
    for (MemoryArena*& arena : arenas) {
      arena = stock.Lease(nullptr);
      arena->Reserve(100);
    }
    for (MemoryArena* arena : arenas) stock.Return(arena);
    EXPECT_EQ(stock.bytes(), static_cast<size_t>(idle) * 100);
  }
}

// Arenas have a largest number. A lease that fails is none: with the last return, what is surplus is freed.
TEST(ArenaStockTest, ALeaseThatFailsDoesNotCount) {
  ArenaStock stock(/*idle_arenas=*/1);
  std::vector<MemoryArena*> arenas;
  std::set<int> slots;
  for (int i = 0; i < ArenaStock::kMostArenas; ++i) {
    arenas.push_back(stock.Lease(nullptr));
    slots.insert(arenas.back()->slot());
  }
  EXPECT_EQ(slots.size(), static_cast<size_t>(ArenaStock::kMostArenas));
  EXPECT_EQ(test::MessageOf([&] { stock.Lease(arenas[0]); }),
            MakeString("all ", ArenaStock::kMostArenas, " arenas are leased"));
  for (const size_t i : {0, 7, 1024}) arenas[i]->Reserve(100);
  for (MemoryArena* const arena : arenas) {
    EXPECT_EQ(stock.bytes(), 300u);
    stock.Return(arena);
  }
  EXPECT_EQ(stock.bytes(), 100u);
  EXPECT_EQ(stock.Lease(arenas[1024]), arenas[1024]);
  EXPECT_EQ(stock.Lease(arenas[1024]), arenas[0]);  // the preferred one is leased
}

TEST(ArenaStockTest, LeasesEachArenaToOneThread) {
  ArenaStock stock;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&stock] {
      const MemoryArena* last = nullptr;
      for (int i = 0; i < 2000; ++i) {
        MemoryArena* const arena = stock.Lease(last);
        arena->Reserve(64);
        for (int k = 0; k < 64; ++k) arena->data()[k] = static_cast<char>(i);
        last = arena;
        stock.Return(arena);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(stock.bytes(), 64u);
}

}  // namespace
}  // namespace caffe2rt::memory_arena_test
