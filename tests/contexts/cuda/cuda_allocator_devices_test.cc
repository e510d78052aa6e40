// Memory of one device that streams of another device use.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "contexts/cuda/cuda_allocator.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_copy.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_allocator_devices_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// The parameter is the device of the memory.
class CudaAllocatorDevicesTest : public CudaTest, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    SKIP_BELOW_DEVICES(2);
    home_ = &ThreadStream(owner_, 1);
    far_ = &ThreadStream(user_, 1);
    Settle();
    CudaPool(owner_).ReleaseCached();
  }
  void TearDown() override {
    held_.clear();
    Settle();
    for (const int device : {0, 1}) CudaPool(device).CheckInvariants();
    CudaTest::TearDown();
  }
  static void Settle() {
    for (const int device : {0, 1}) {
      const DeviceGuard guard(device);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
  }
  // Frees the memory on a thread that uses no stream.
  static void FreeElsewhere(void* data, MemoryDeleter deleter) {
    std::thread([=] { deleter(data); }).join();
  }
  static bool PoolIs(CudaMemoryPoolType type) { return GetCudaMemoryPoolType() == type; }

  // Returns whether the home stream may use freed memory now. The driver's pool reuses the memory
  // at once but makes the home stream wait for the pending work.
  bool IsGivenAgain(const void* data) {
    if (PoolIs(CudaMemoryPoolType::ASYNC)) return !StaysBusy(owner_, 1);
    held_.emplace_back(NewCudaMemory(kMiB, *home_));
    return held_.back().get() == data;
  }
  void ExpectGivenAgainAfter(Gate* gate, const void* data) {
    EXPECT_FALSE(IsGivenAgain(data));
    gate->Open();
    Settle();
    EXPECT_TRUE(IsGivenAgain(data));
  }

  const int owner_ = GetParam();
  const int user_ = 1 - GetParam();
  CudaStream* home_ = nullptr;
  CudaStream* far_ = nullptr;
  std::vector<DataPtr> held_;
};

INSTANTIATE_TEST_SUITE_P(Owners, CudaAllocatorDevicesTest, testing::Values(0, 1));

TEST_P(CudaAllocatorDevicesTest, KeepsMemoryUntilANamedUserOnAnotherDeviceIsDone) {
  if (PoolIs(CudaMemoryPoolType::NONE)) GTEST_SKIP() << "freeing waits";
  CUDAContext user(user_);
  user.SwitchToDevice(1);
  CaffeCudaSetDevice(0);
  const auto [data, deleter] = NewCudaMemory(kMiB, *home_);
  Gate gate(far_->stream);
  GetCUDAStaticContext()->RecordUse(deleter, user);
  FreeElsewhere(data, deleter);
  ExpectGivenAgainAfter(&gate, data);
}

TEST_P(CudaAllocatorDevicesTest, KeepsMemoryUntilTheDeviceOfTheThreadThatFreesIsDone) {
  if (PoolIs(CudaMemoryPoolType::NONE)) GTEST_SKIP() << "freeing waits";
  DataPtr memory(NewCudaMemory(kMiB, *home_));
  void* const data = memory.get();
  Gate gate(far_->stream);
  {
    const DeviceGuard guard(user_);
    const StreamGuard stream(user_, 1);
    memory.Reset();  // as after a copy from it
  }
  ExpectGivenAgainAfter(&gate, data);
}

TEST_P(CudaAllocatorDevicesTest, KeepsMemoryForUsersOfBothDevices) {
  if (PoolIs(CudaMemoryPoolType::NONE)) GTEST_SKIP() << "freeing waits";
  for (int round = 0; round < 3; ++round) {  // events move between the devices
    held_.clear();
    Settle();
    CudaPool(owner_).ReleaseCached();
    const auto [data, deleter] = NewCudaMemory(kMiB, *home_);
    CudaStream& near = ThreadStream(owner_, 2);
    Gate near_gate(near.stream), far_gate(far_->stream);
    RecordCudaUse(deleter, near);
    RecordCudaUse(deleter, *far_);
    FreeElsewhere(data, deleter);
    (round % 2 == 0 ? near_gate : far_gate).Open();
    ExpectGivenAgainAfter(round % 2 == 0 ? &far_gate : &near_gate, data);
  }
}

// Nothing is returned to the driver too early. The driver waits for its own device only.
TEST_P(CudaAllocatorDevicesTest, GivesNothingBackThatAnotherDeviceUses) {
  const auto [data, deleter] = NewCudaMemory(kMiB, *home_);
  Gate gate(far_->stream);
  const Before opener("cudaEventSynchronize", [&] { gate.Open(); });
  RecordCudaUse(deleter, *far_);
  FreeElsewhere(data, deleter);
  CudaPool(owner_).ReleaseCached();
  EXPECT_TRUE(opener.ran());
  EXPECT_TRUE(IsStreamFree(user_, 1));
}

TEST_P(CudaAllocatorDevicesTest, EventsOfAPoolFollowStreamsOfAnyDevice) {
  CudaUpstream& upstream = CudaPoolUpstream(owner_);
  const Upstream::Event event = upstream.CreateEvent();
  for (CudaStream* const stream : {home_, far_, far_, home_, far_}) {
    const StreamIndex index = upstream.IndexOf(*stream);
    EXPECT_EQ(upstream.StreamAt(index), stream);
    Gate gate(stream->stream);
    upstream.Record(event, index);
    EXPECT_FALSE(upstream.IsDone(event));
    gate.Open();
    upstream.Synchronize(index);
    EXPECT_TRUE(IsStreamFree(stream->device, 1));
    EXPECT_TRUE(upstream.IsDone(event));
  }
  upstream.DestroyEvent(event);
}

TEST_P(CudaAllocatorDevicesTest, PinnedMemoryStaysUntilTheCopiesOfEveryDeviceAreOver) {
  PinnedCPUAllocator allocator;
  const DataPtr device(NewCudaMemory(kMiB, *home_));
  DataPtr pinned(allocator.New(kMiB));
  void* const first = pinned.get();
  Gate gate(home_->stream);
  CopyFromHost(kMiB, first, device.get(), *home_);
  pinned.Reset();
  EXPECT_NE(DataPtr(allocator.New(kMiB)).get(), first);
  pinned = DataPtr(allocator.New(kMiB));
  void* const second = pinned.get();
  CopyToHost(kMiB, device.get(), second, *home_);
  pinned.Reset();
  EXPECT_NE(DataPtr(allocator.New(kMiB)).get(), second);
}

// At first, neither the stream nor the host can wait.
TEST_P(CudaAllocatorDevicesTest, TriesAgainToFreeWhatAnotherDeviceUses) {
  Pool& pool = CudaPool(owner_);
  const auto [data, deleter] = NewCudaMemory(kMiB, *home_);
  const size_t in_use = pool.Statistics().in_use_bytes;
  RecordCudaUse(deleter, *far_);
  fakecuda_fail("cudaEventRecord", 0, 3, cudaErrorUnknown, 0);
  FreeElsewhere(data, deleter);
  fakecuda_fail("cudaEventRecord", 0, 0, cudaSuccess, 0);
  EXPECT_LT(pool.Statistics().in_use_bytes, in_use);
  pool.CheckInvariants();
  pool.ReleaseCached();
  for (const PoolSnapshot::Segment& segment : pool.Snapshot().segments) {
    EXPECT_NE(segment.address, reinterpret_cast<uintptr_t>(data));
  }
  pool.CheckInvariants();
}

}  // namespace
}  // namespace caffe2rt::test::cuda_allocator_devices_test
