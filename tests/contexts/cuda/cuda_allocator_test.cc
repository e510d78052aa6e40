#include "contexts/cuda/cuda_allocator.h"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "caffe2_core/base/logging.h"
#include "contexts/cuda/cuda_copy.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/json.h"

namespace caffe2rt::test::cuda_allocator_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using CudaAllocatorTest = CudaTest;
using PinnedAllocatorTest = CudaTest;

constexpr size_t kMiB = size_t{1} << 20;

// Returns whether the pool hands memory of one stream to another stream only after the first
// stream's work.
bool PoolCaches() { return GetCudaMemoryPoolType() != CudaMemoryPoolType::NONE; }

TEST_F(CudaAllocatorTest, ReportsGrowthWhenItTracks) {
  CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  const CudaMemoryOptions before = options;
  options.tracking = true;
  options.report_interval_mb = 0;  // reports from this point on
  std::vector<DataPtr> memory;
  memory.emplace_back(NewCudaMemory(2 * kMiB));
  options.report_interval_mb = 5;
  SetLogThreshold(0);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 10; ++i) memory.emplace_back(NewCudaMemory(2 * kMiB));
  const std::string log = testing::internal::GetCapturedStderr();
  SetLogThreshold(2);
  options = before;
  size_t lines = 0;
  for (size_t at = 0; (at = log.find("CUDA memory in use: ", at)) != std::string::npos; ++at) {
    ++lines;
  }
  EXPECT_EQ(lines, 3u) << log;  // at 6, 12 and 18 MiB
  EXPECT_THAT(log, AllOf(HasSubstr("bytes by device "), HasSubstr("peak ")));
}

// Under the lock of the report, the sink would wait for ever.
TEST_F(CudaAllocatorTest, SinksOfReportsMayAllocate) {
  CudaMemoryOptions& options = GlobalCudaMemoryOptions();
  const CudaMemoryOptions before = options;
  options.tracking = true;
  options.report_interval_mb = -1'000'000;  // whatever was reported before
  SetLogThreshold(0);
  std::vector<DataPtr> memory;
  size_t lines = 0;
  SetLogSink([&](const LogEntry&) {
    options.report_interval_mb = 1000;
    ++lines;
    memory.emplace_back(NewCudaMemory(2 * kMiB));
  });
  const DataPtr first(NewCudaMemory(2 * kMiB));
  SetLogSink({});
  SetLogThreshold(2);
  options = before;
  EXPECT_EQ(lines, 1u);
  EXPECT_EQ(memory.size(), 1u);
}

TEST_F(CudaAllocatorTest, GivesMemoryOfTheCurrentDevice) {
  for (int device = 0; device < NumCudaDevices(); ++device) {
    const DeviceGuard guard(device);
    const DataPtr memory(NewCudaMemory(100));
    EXPECT_EQ(GetGPUIDForPointer(memory.get()), device);
    EXPECT_TRUE(CudaPool(device).Owns(memory.get()));
  }
}

TEST_F(CudaAllocatorTest, GivesNullForNoBytes) { EXPECT_EQ(NewCudaMemory(0).first, nullptr); }

TEST_F(CudaAllocatorTest, CountsBytesByDevice) {
  const long before = TotalMemoryByGpu()[0];
  {
    const DataPtr memory(NewCudaMemory(3 * kMiB));
    EXPECT_GE(TotalMemoryByGpu()[0] - before, static_cast<long>(3 * kMiB));
    EXPECT_GE(MaxMemoryByGpu()[0], TotalMemoryByGpu()[0]);
  }
  EXPECT_EQ(TotalMemoryByGpu()[0], before);
  EXPECT_GE(MaxMemoryByGpu()[0] - before, static_cast<long>(3 * kMiB));
  EXPECT_EQ(TotalMemoryByGpu().size(), static_cast<size_t>(NumCudaDevices()));
}

TEST_F(CudaAllocatorTest, ReusesMemoryOnItsStreamWhileWorkIsPending) {
  if (!PoolCaches()) GTEST_SKIP() << "the pool keeps nothing";
  ReleaseCachedCudaMemory();
  CudaStream& stream = CurrentStream(0);
  DataPtr memory(NewCudaMemory(kMiB));
  void* const first = memory.get();
  Gate gate(stream.stream);
  memory.Reset();
  const DataPtr again(NewCudaMemory(kMiB));
  EXPECT_EQ(again.get(), first);
}

TEST_F(CudaAllocatorTest, KeepsMemoryFromOtherStreamsWhileWorkIsPending) {
  if (!PoolCaches()) GTEST_SKIP() << "freeing waits";
  DataPtr memory(NewCudaMemory(kMiB, ThreadStream(0, 1)));
  {  // cached: nothing waits at the gate
    const StreamGuard guard(0, 2);
    const DataPtr next(NewCudaMemory(kMiB));
  }
  void* const first = memory.get();
  Gate gate(ThreadStream(0, 1).stream);
  {
    const StreamGuard guard(0, 1);
    memory.Reset();
  }
  const StreamGuard guard(0, 2);
  const DataPtr other(NewCudaMemory(kMiB));
  EXPECT_NE(other.get(), first);
}

TEST_F(CudaAllocatorTest, WaitsForTheStreamOfTheThreadThatFrees) {
  if (!PoolCaches()) GTEST_SKIP() << "freeing waits";
  DataPtr memory(NewCudaMemory(kMiB, ThreadStream(0, 1)));
  void* const first = memory.get();
  Gate gate(ThreadStream(0, 2).stream);
  {
    const StreamGuard guard(0, 2);  // as for a copy from the memory on this stream
    memory.Reset();
  }
  const StreamGuard guard(0, 1);
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::ASYNC) {
    // The driver may reuse the memory at once. Its home stream then waits for the other stream.
    EXPECT_FALSE(IsStreamFree(0, 1));
    return;
  }
  const DataPtr other(NewCudaMemory(kMiB));
  EXPECT_NE(other.get(), first);
}

TEST_F(CudaAllocatorTest, WaitsForTheStreamsThatAreNamedAsUsers) {
  if (!PoolCaches()) GTEST_SKIP() << "freeing waits";
  const StreamGuard guard(0, 1);
  const auto [data, deleter] = NewCudaMemory(kMiB);
  Gate gate(ThreadStream(0, 2).stream);
  RecordCudaUse(deleter, ThreadStream(0, 2));
  deleter(data);
  if (GetCudaMemoryPoolType() == CudaMemoryPoolType::ASYNC) {
    EXPECT_FALSE(IsStreamFree(0, 1));  // the home stream waits, as above
    return;
  }
  const DataPtr other(NewCudaMemory(kMiB));
  EXPECT_NE(other.get(), data);
}

TEST_F(CudaAllocatorTest, UseOnItsOwnStreamChangesNothing) {
  if (!PoolCaches()) GTEST_SKIP() << "the pool keeps nothing";
  ReleaseCachedCudaMemory();
  const StreamGuard guard(0, 1);
  const auto [data, deleter] = NewCudaMemory(kMiB);
  Gate gate(ThreadStream(0, 1).stream);
  RecordCudaUse(deleter, ThreadStream(0, 1));
  deleter(data);
  const DataPtr again(NewCudaMemory(kMiB));
  EXPECT_EQ(again.get(), data);
}

TEST_F(CudaAllocatorTest, LeavesMemoryOfOthersAlone) {
  RecordCudaUse(MemoryDeleter(&std::free), ThreadStream(0, 1));
  RecordCudaUse(MemoryDeleter(), ThreadStream(0, 1));
  SKIP_BELOW_DEVICES(2);
  const DeviceGuard guard(1);
  const DataPtr there(NewCudaMemory(kMiB));
  const auto [data, deleter] = NewCudaMemory(kMiB);
  RecordCudaUse(deleter, ThreadStream(0, 1));  // a stream of another device
  deleter(data);
  CudaPool(1).CheckInvariants();
}

TEST_F(CudaAllocatorTest, FreesOnAThreadThatNeverUsedCuda) {
  const long before = TotalMemoryByGpu()[0];
  DataPtr memory(NewCudaMemory(kMiB));
  std::thread([block = std::move(memory)]() mutable { block.Reset(); }).join();
  EXPECT_EQ(TotalMemoryByGpu()[0], before);
}

TEST_F(CudaAllocatorTest, RejectsASecondFree) {
  Pool& pool = CudaPool(0);
  const StreamIndex stream = CudaPoolUpstream(0).IndexOf(CurrentStream(0));
  const PoolBlock block = pool.Allocate(kMiB, stream);
  pool.Free(block, stream);
  EXPECT_THROW(pool.Free(block, stream), EnforceNotMet);
}

TEST_F(CudaAllocatorTest, ReportsUsageWhenOutOfMemory) {
  CudaPool(0).ReleaseCached();
  const DataPtr kept(NewCudaMemory(kMiB));
  CudaPool(0).SetLimit(8 * kMiB);
  EXPECT_THAT(ErrorOf([] { NewCudaMemory(16 * kMiB).second(nullptr); }),
              AllOf(HasSubstr("CUDA 0 is out of memory: asked 16 MiB"), HasSubstr("in use "),
                    HasSubstr("cached "), HasSubstr("limit 8 MiB"), HasSubstr("peak ")));
  CudaPool(0).SetLimit(SIZE_MAX);
  const DataPtr more(NewCudaMemory(16 * kMiB));
  EXPECT_NE(more.get(), nullptr);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(CudaAllocatorTest, GivesCachedMemoryBack) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  { const DataPtr memory(NewCudaMemory(64 * kMiB)); }
  ReleaseCachedCudaMemory();
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_GE(after, before);
}

TEST_F(CudaAllocatorTest, ListsItsMemoryAsJson) {
  const DataPtr memory(NewCudaMemory(12345));
  const std::string json = CudaMemoryJson();
  EXPECT_EQ(JsonAt(json, "/0/device"), R"("CUDA 0")");
  EXPECT_THAT(JsonAt(json, "/0/segments"),
              HasSubstr(R"("requested_bytes":12345,"state":"in use")"));
  CudaPool(0).CheckInvariants();
}

TEST_F(PinnedAllocatorTest, KeepsMemoryUntilItsCopyIsOver) {
  PinnedCPUAllocator allocator;
  CudaStream& stream = ThreadStream(0, 1);
  const DataPtr device(NewCudaMemory(kMiB, stream));
  DataPtr source(allocator.New(kMiB));
  std::memset(source.get(), 5, kMiB);
  void* const first = source.get();
  DataPtr(allocator.New(kMiB)).Reset();  // cached: nothing waits at the gate
  Gate gate(stream.stream);
  CopyFromHost(kMiB, source.get(), device.get(), stream);
  source.Reset();
  const DataPtr other(allocator.New(kMiB));
  EXPECT_NE(other.get(), first);
  std::memset(other.get(), 6, kMiB);
  gate.Open();
  std::string back(kMiB, '?');
  CopyToHost(kMiB, device.get(), back.data(), stream);
  ASSERT_EQ(cudaStreamSynchronize(stream.stream), cudaSuccess);
  EXPECT_TRUE(back == std::string(kMiB, 5)) << "begins with " << static_cast<int>(back[0]);
}

TEST_F(PinnedAllocatorTest, KeepsMemoryUntilTheCopyIntoItIsOver) {
  PinnedCPUAllocator allocator;
  CudaStream& stream = ThreadStream(0, 1);
  const DataPtr device(NewCudaMemory(kMiB, stream));
  stream.has_host_copies = false;  // those of other tests are over
  DataPtr target(allocator.New(kMiB));
  void* const first = target.get();
  DataPtr(allocator.New(kMiB)).Reset();  // cached: nothing waits at the gate
  Gate gate(stream.stream);
  CopyToHost(kMiB, device.get(), target.get(), stream);
  target.Reset();
  const DataPtr other(allocator.New(kMiB));
  EXPECT_NE(other.get(), first);
  gate.Open();
  ASSERT_EQ(cudaStreamSynchronize(stream.stream), cudaSuccess);
}

TEST_F(PinnedAllocatorTest, GivesMemoryThatDevicesReachAtOnce) {
  PinnedCPUAllocator allocator;
  const DataPtr memory(allocator.New(100));
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory.get()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  const std::string json = CudaMemoryJson();
  EXPECT_EQ(JsonAt(json, "/" + std::to_string(JsonSize(json, "") - 1) + "/device"),
            R"("pinned memory")");
}

}  // namespace
}  // namespace caffe2rt::test::cuda_allocator_test
