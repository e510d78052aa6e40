// Allocations and frees of CUDA that wait for all work of the device: the pools make none in the
// steady state. One that is made while a stream is held is reported instead of waiting forever.
#include <gtest/gtest-spi.h>

#include <vector>

#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_copy.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_memory_wait_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

class CudaMemoryWaitTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    ReleaseCachedCudaMemory();
    PinnedPool().ReleaseCached();
    word_ = DataPtr(NewCudaMemory(4, Held()));
    fakecuda_set("allocation_waits", 1);
    fakecuda_set("held_wait_ms", 20);
  }
  void TearDown() override {
    fakecuda_resume(Held().stream);
    fakecuda_set("allocation_waits", 0);
    fakecuda_set("held_wait_ms", 10000);
    word_.Reset();
    CudaPool(0).CheckInvariants();
    CudaTest::TearDown();
  }

  static CudaStream& Held() { return ThreadStream(0, 1); }
  static CudaStream& Other() { return ThreadStream(0, 2); }
  // Gives stream 1 work that runs when the test ends.
  void Hold() {
    fakecuda_pause(Held().stream);
    ASSERT_EQ(cudaMemsetAsync(word_.get(), 0, 4, Held().stream), cudaSuccess);
  }
  static bool PoolIs(CudaMemoryPoolType type) { return GetCudaMemoryPoolType() == type; }
  static std::string ErrorOfAllocating(size_t nbytes) {
    return ErrorOf([nbytes] { DataPtr(NewCudaMemory(nbytes, Other())).Reset(); });
  }

  DataPtr word_;
};

constexpr size_t kSizes[] = {100, 1000, kMiB / 4, kMiB, 3 * kMiB, 9 * kMiB};

TEST_F(CudaMemoryWaitTest, PoolsNeverWaitInTheSteadyState) {
  if (PoolIs(CudaMemoryPoolType::NONE)) GTEST_SKIP() << "the pool keeps nothing";
  const auto use_memory_of_both_streams = [] {
    for (const int id : {1, 2}) {
      const StreamGuard guard(0, id);
      std::vector<DataPtr> memory;
      for (const size_t nbytes : kSizes) memory.emplace_back(NewCudaMemory(nbytes));
    }
  };
  Hold();
  fakecuda_set("allocation_waits", 0);  // while the pools are cold
  for (int run = 0; run < 2; ++run) use_memory_of_both_streams();
  fakecuda_set("allocation_waits", 1);
  fakecuda_reset_calls();
  for (int run = 0; run < 5; ++run) use_memory_of_both_streams();
  EXPECT_EQ(fakecuda_calls("memory_wait"), 0);
  EXPECT_EQ(cudaStreamQuery(Held().stream), cudaErrorNotReady);  // it is still held
  cudaGetLastError();
}

// Memory that is freed while copies are pending waits for them, so the work ends between the runs.
TEST_F(CudaMemoryWaitTest, PinnedPoolNeverWaitsInTheSteadyState) {
  DataPtr device(NewCudaMemory(kSizes[5], Other()));
  const auto copy = [&] {
    std::vector<DataPtr> memory;
    for (const size_t nbytes : kSizes) {
      memory.emplace_back(PinnedCPUAllocator().New(nbytes));
      CopyFromHost(nbytes, memory.back().get(), device.get(), Other());
    }
    memory.clear();  // before the copies are over
    // Freed memory waits for every stream that ever copied host memory: in other tests, too.
    for (int id = 0; id < NumCudaDevices(); ++id) {
      const DeviceGuard guard(id);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
  };
  fakecuda_reset_calls();
  for (int run = 0; run < 2; ++run) copy();
  EXPECT_GT(fakecuda_calls("memory_wait"), 0);
  fakecuda_reset_calls();
  for (int run = 0; run < 5; ++run) copy();
  EXPECT_EQ(fakecuda_calls("memory_wait"), 0);
}

TEST_F(CudaMemoryWaitTest, AllocationAtAHeldStreamIsNamed) {
  const size_t in_use = CudaPool(0).Statistics().in_use_bytes;
  Hold();
  testing::internal::CaptureStderr();
  const std::string error = ErrorOfAllocating(64 * kMiB);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(CudaPool(0).Statistics().in_use_bytes, in_use);
  if (PoolIs(CudaMemoryPoolType::ASYNC)) {  // allocates in stream order
    EXPECT_EQ(error, "");
    EXPECT_EQ(printed, "");
    return;
  }
  EXPECT_THAT(error, AllOf(HasSubstr("cudaMalloc"), HasSubstr("cudaErrorNotPermitted"),
                           HasSubstr(" MiB of device memory")));
  EXPECT_THAT(printed, HasSubstr("[fakecuda] cudaMalloc waits for the device, but fakecuda_pause "
                                 "holds stream "));
  fakecuda_resume(Held().stream);
  EXPECT_EQ(ErrorOfAllocating(64 * kMiB), "");
}

TEST_F(CudaMemoryWaitTest, PinnedAllocationAtAHeldStreamIsNamed) {
  Hold();
  testing::internal::CaptureStderr();
  const auto allocate = [] { DataPtr(PinnedCPUAllocator().New(64 * kMiB)).Reset(); };
  EXPECT_THAT(ErrorOf(allocate),
              AllOf(HasSubstr("cudaHostAlloc"), HasSubstr("64 MiB of pinned memory")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("[fakecuda] cudaHostAlloc waits for the device"));
  fakecuda_resume(Held().stream);
  EXPECT_EQ(ErrorOf(allocate), "");
}

TEST_F(CudaMemoryWaitTest, FreeOfUncachedMemoryAtAHeldStreamIsNamed) {
  if (!PoolIs(CudaMemoryPoolType::NONE)) GTEST_SKIP() << "the pool frees nothing";
  DataPtr memory(NewCudaMemory(kMiB, Other()));
  void* const data = memory.get();
  Hold();
  const StreamGuard guard(0, 2);
  testing::internal::CaptureStderr();
  memory.Reset();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("[fakecuda] cudaFree waits for the device"),
                    HasSubstr("cudaErrorNotPermitted")));
  fakecuda_resume(Held().stream);
  EXPECT_EQ(cudaFree(data), cudaSuccess);  // the pool does not try again
}

// What the tests that run on hardware rely on.
TEST_F(CudaMemoryWaitTest, GateReportsAllocationsWhileItIsClosed) {
  Gate::allows_waiting_calls = false;
  fakecuda_set("allocation_waits", 0);  // does not wait, but is counted
  EXPECT_NONFATAL_FAILURE(
      {
        Gate gate(Held().stream);
        void* data = nullptr;
        EXPECT_EQ(cudaMalloc(&data, 100), cudaSuccess);
        gate.Open();
        EXPECT_EQ(cudaFree(data), cudaSuccess);
      },
      "memory was allocated or freed at a closed gate");
  {
    Gate gate(Held().stream);
    gate.Open();
  }
  Gate::allows_waiting_calls = true;
}

}  // namespace
}  // namespace caffe2rt::test::cuda_memory_wait_test
