// Pools while allocations of the host fail: they lose no memory of the device, and count what they
// hold.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "contexts/pool/pool.h"
#include "contexts/pool/raw_memory.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::allocation_failure_pool_test {
namespace {

using test::FailingAllocations;
using test::FakeAllocator;
using Mode = FailingAllocations::Mode;

struct KindOfPool {
  const char* name;
  std::function<std::unique_ptr<Pool>(Upstream&)> make;
};

class PoolWithoutMemoryTest : public testing::Test {
 protected:
  // Runs `act` with each of its allocations failing once, and then ends everything.
  template <class Act>
  static void Sweep(const std::vector<Mode>& modes, Act act) {
    const KindOfPool kinds[] = {
        {"thc", [](Upstream& device) { return NewThcPool(device, {}); }},
        {"cub", [](Upstream& device) { return NewCubPool(device, {}); }},
        {"none", [](Upstream& device) { return NewDirectPool(device, {}); }}};
    for (const KindOfPool& kind : kinds) {
      for (const Mode mode : modes) {
        bool failed = true;
        for (int64_t n = 0; failed && !HasFailure(); ++n) {
          SCOPED_TRACE(MakeString(kind.name, mode == Mode::kOne ? ", only" : ", from", " ", n));
          FakeAllocator device;
          const auto pool = kind.make(device);
          failed = act(*pool, device, n, mode);
          pool->CheckInvariants();
          pool->ReleaseCached();
          EXPECT_EQ(pool->Statistics().blocks_in_use, 0u);
          EXPECT_EQ(pool->Statistics().reserved_bytes, 0u);
          EXPECT_EQ(device.live_bytes(), 0u);
          EXPECT_EQ(device.live_allocations(), 0u);
        }
      }
    }
  }
};

TEST_F(PoolWithoutMemoryTest, AllocationsThatFailHoldNothing) {
  Sweep({Mode::kOne, Mode::kFrom}, [](Pool& pool, FakeAllocator&, int64_t n, Mode mode) {
    std::vector<PoolBlock> blocks;
    blocks.reserve(200);
    int64_t asked = 0;
    {
      const FailingAllocations failing(n, mode);
      for (size_t i = 0; i < 70; ++i) {  // more than a slab of records
        try {
          blocks.push_back(pool.Allocate(1000 * (i % 7 + 1), static_cast<StreamIndex>(i % 3)));
        } catch (...) {  // of the host or of the device
        }
      }
      asked = failing.asked();
    }
    pool.CheckInvariants();
    for (const PoolBlock& block : blocks) pool.Free(block, kNoStream);
    return asked > n;
  });
}

TEST_F(PoolWithoutMemoryTest, RawMemoryHoldsNothingWithoutAnAddress) {
  // Not with all later ones: a pool that gives memory back needs some of the host.
  Sweep({Mode::kOne}, [](Pool& pool, FakeAllocator&, int64_t n, Mode mode) {
    RawMemory raw(pool);
    void* data = nullptr;
    int64_t asked = 0;
    {
      const FailingAllocations failing(n, mode);
      try {
        data = raw.Allocate(1000, 1);
      } catch (...) {
      }
      asked = failing.asked();
    }
    EXPECT_EQ(pool.Statistics().blocks_in_use, data != nullptr ? 1u : 0u);
    raw.Free(data, 1);
    return asked > n;
  });
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_pool_test
