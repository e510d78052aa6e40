// How much memory the pools take from a device, by the size of a request.
#include <algorithm>
#include <vector>

#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"
#include "tests/support/json.h"

namespace caffe2rt::test::cuda_segments_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t RoundUp(size_t bytes, size_t granule) { return (bytes + granule - 1) / granule * granule; }

// What the pool takes from the device for a request when it has cached nothing.
size_t Taken(size_t asked) {
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::THC) return RoundUp(asked, 2 * kMiB);
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::CUB) {
    size_t bytes = 512;
    while (bytes < asked) bytes *= 8;
    return bytes;
  }
  return RoundUp(asked, 512);
}

class CudaSegmentsTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (GetCudaMemoryPoolType() == CudaMemoryPoolType::ASYNC) {
      GTEST_SKIP() << "the driver chooses the sizes";
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ReleaseCachedCudaMemory();
    live_ = fakecuda_live_bytes(0);
    reserved_ = CudaPool(0).Statistics().reserved_bytes;
    total_ = TotalMemoryByGpu()[0];
  }
  void TearDown() override {
    if (!IsSkipped()) CudaPool(0).CheckInvariants();
    CudaTest::TearDown();
  }
  size_t LiveBytes() const { return fakecuda_live_bytes(0) - live_; }
  size_t Reserved() const { return CudaPool(0).Statistics().reserved_bytes - reserved_; }

  size_t live_ = 0, reserved_ = 0;
  long total_ = 0;
};

TEST_F(CudaSegmentsTest, TakesTheSizesOfItsPool) {
  for (const size_t asked :
       {size_t{1}, size_t{512}, size_t{513}, 256 * kMiB / 1024, 256 * kMiB / 1024 + 1, 2 * kMiB - 1,
        2 * kMiB, 2 * kMiB + 1, 4 * kMiB, 4 * kMiB + 1, 15 * kMiB}) {
    SCOPED_TRACE(asked);
    const size_t taken = Taken(asked);
    DataPtr memory(NewCudaMemory(asked));
    EXPECT_EQ(LiveBytes(), taken);
    EXPECT_EQ(Reserved(), taken);
    // The total that is reported counts blocks in use, not what is cached around them.
    const bool cuts = GetCudaMemoryPoolType() == CudaMemoryPoolType::THC;
    EXPECT_EQ(TotalMemoryByGpu()[0] - total_,
              static_cast<long>(cuts ? RoundUp(asked, 512) : taken));
    memory.Reset();
    EXPECT_EQ(TotalMemoryByGpu()[0], total_);
    ReleaseCachedCudaMemory();
    EXPECT_EQ(LiveBytes(), 0u);
    EXPECT_EQ(Reserved(), 0u);
  }
}

TEST_F(CudaSegmentsTest, CachingPoolFillsSegmentsOfTwoMegabytes) {
  if (GetCudaMemoryPoolType() != CudaMemoryPoolType::THC) GTEST_SKIP() << "the pool keeps nothing";
  std::vector<DataPtr> memory;
  for (int i = 0; i < 8; ++i) memory.emplace_back(NewCudaMemory(kMiB / 4));
  EXPECT_EQ(LiveBytes(), 2 * kMiB);
  memory.emplace_back(NewCudaMemory(1));
  EXPECT_EQ(LiveBytes(), 4 * kMiB);
  for (int i = 0; i < 2; ++i) memory.emplace_back(NewCudaMemory(kMiB));
  EXPECT_EQ(LiveBytes(), 6 * kMiB);
  size_t listed = 0;
  for (const PoolSnapshot::Segment& segment : CudaPool(0).Snapshot().segments) {
    EXPECT_EQ(segment.bytes % (2 * kMiB), 0u);
    listed += segment.bytes;
  }
  EXPECT_EQ(listed, CudaPool(0).Statistics().reserved_bytes);
  EXPECT_EQ(JsonAt(CudaMemoryJson(), "/0/statistics/reserved_bytes"), std::to_string(listed));
}

}  // namespace
}  // namespace caffe2rt::test::cuda_segments_test
