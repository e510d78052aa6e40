#include "contexts/cuda/cuda_stream.h"

#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cuda_stream_test {
namespace {

using CudaStreamTest = CudaTest;

TEST_F(CudaStreamTest, GivesTheSameStreamForTheSameId) {
  CudaStream& stream = ThreadStream(0, 3);
  EXPECT_EQ(&ThreadStream(0, 3), &stream);
  EXPECT_NE(&ThreadStream(0, 4), &stream);
  EXPECT_EQ(stream.device, 0);
  unsigned flags = 0;
  ASSERT_EQ(cudaStreamGetFlags(stream.stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
}

TEST_F(CudaStreamTest, GivesEachThreadItsOwn) {
  CudaStream* const mine = &ThreadStream(0, 0);
  CudaStream* theirs = nullptr;
  std::thread([&] { theirs = &ThreadStream(0, 0); }).join();
  EXPECT_NE(theirs, mine);
}

TEST_F(CudaStreamTest, ReusesTheStreamsOfEndedThreads) {
  std::set<CudaStream*> seen;
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { seen.insert(&ThreadStream(0, 5)); }).join();
  }
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(CudaStreamTest, KeepsTheOrderOfAStreamThatChangesThreads) {
  CudaStream* stream = nullptr;
  std::unique_ptr<Gate> gate;
  std::thread([&] {
    stream = &ThreadStream(0, 0);
    gate = std::make_unique<Gate>(stream->stream);
  }).join();  // the thread ends with work pending and does not wait for it
  std::thread([&] {
    ASSERT_EQ(&ThreadStream(0, 0), stream);
    EXPECT_FALSE(IsStreamFree(0, 0));
    gate->Open();
    EXPECT_EQ(cudaStreamSynchronize(stream->stream), cudaSuccess);
    EXPECT_TRUE(IsStreamFree(0, 0));
  }).join();
}

TEST_F(CudaStreamTest, CurrentStreamIsTheThreadsStreamZeroAtFirst) {
  std::thread([] {
    EXPECT_EQ(FindCurrentStream(0), nullptr);
    CudaStream& current = CurrentStream(0);
    EXPECT_EQ(&current, &ThreadStream(0, 0));
    EXPECT_EQ(FindCurrentStream(0), &current);
  }).join();
}

TEST_F(CudaStreamTest, GuardChangesTheCurrentStreamOfOneDevice) {
  CudaStream* const before = &CurrentStream(0);
  {
    const StreamGuard guard(0, 2);
    EXPECT_EQ(&CurrentStream(0), &ThreadStream(0, 2));
    {
      const StreamGuard inner(0, 7);
      EXPECT_EQ(&CurrentStream(0), &ThreadStream(0, 7));
    }
    EXPECT_EQ(&CurrentStream(0), &ThreadStream(0, 2));
  }
  EXPECT_EQ(&CurrentStream(0), before);
}

TEST_F(CudaStreamTest, GuardLeavesOtherDevicesAlone) {
  SKIP_BELOW_DEVICES(2);
  const StreamGuard guard(0, 2);
  EXPECT_EQ(&CurrentStream(1), &ThreadStream(1, 0));
}

TEST_F(CudaStreamTest, StreamThatWasNeverUsedIsFree) { EXPECT_TRUE(IsStreamFree(0, 1234)); }

TEST_F(CudaStreamTest, ReportsWhetherItsWorkIsDone) {
  Gate gate(ThreadStream(0, 1).stream);
  EXPECT_FALSE(IsStreamFree(0, 1));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // "not ready" is not an error
  gate.Open();
  ASSERT_EQ(cudaStreamSynchronize(ThreadStream(0, 1).stream), cudaSuccess);
  EXPECT_TRUE(IsStreamFree(0, 1));
}

TEST_F(CudaStreamTest, RejectsInvalidDevicesAndIds) {
  EXPECT_THROW(ThreadStream(99, 0), EnforceNotMet);
  EXPECT_THROW(ThreadStream(0, -1), EnforceNotMet);
  EXPECT_THROW(CurrentStream(99), EnforceNotMet);
  EXPECT_THROW(IsStreamFree(-1, 0), EnforceNotMet);
  EXPECT_THROW(StreamGuard(0, -1), EnforceNotMet);
}

TEST_F(CudaStreamTest, DistinguishesStreamsOfTwoDevices) {
  SKIP_BELOW_DEVICES(2);
  Gate gate(ThreadStream(1, 1).stream);
  Synchronize(ThreadStream(0, 1).stream);
  EXPECT_TRUE(IsStreamFree(0, 1));
  EXPECT_FALSE(IsStreamFree(1, 1));
}

// `other` belongs to one device, and `waiter` to the same device or another.
class CudaStreamPairTest : public CudaTest,
                           public testing::WithParamInterface<std::pair<int, int>> {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    SKIP_BELOW_DEVICES(2);
    other_ = &ThreadStream(GetParam().first, 1);
    waiter_ = &ThreadStream(GetParam().second, 2);
    Synchronize(other_->stream);
    Synchronize(waiter_->stream);
  }
  bool IsFree(const CudaStream& stream) {
    return IsStreamFree(stream.device, &stream == waiter_ ? 2 : 1);
  }
  CudaStream* other_ = nullptr;
  CudaStream* waiter_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Devices, CudaStreamPairTest,
                         testing::Values(std::pair(0, 0), std::pair(0, 1), std::pair(1, 0),
                                         std::pair(1, 1)));

TEST_P(CudaStreamPairTest, StreamWaitsForWhatTheOtherWasGivenSoFar) {
  Gate gate(other_->stream);
  WaitForStream(*waiter_, *other_);
  Gate later(other_->stream);
  EXPECT_FALSE(IsFree(*waiter_));
  gate.Open();
  Synchronize(waiter_->stream);  // does not wait for later work
  EXPECT_FALSE(IsFree(*other_));
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_P(CudaStreamPairTest, StreamThatIsWaitedForGoesOn) {
  Gate gate(waiter_->stream);
  WaitForStream(*waiter_, *other_);
  Synchronize(other_->stream);
  EXPECT_FALSE(IsFree(*waiter_));
}

TEST_P(CudaStreamPairTest, WaitKeepsThePlaceThatItSaw) {
  Gate gate(other_->stream);
  WaitForStream(*waiter_, *other_);
  // The event is reused for streams without pending work.
  const CudaStream& third = ThreadStream(GetParam().first, 3);
  const CudaStream& fourth = ThreadStream(GetParam().second, 4);
  WaitForStream(fourth, third);
  Synchronize(fourth.stream);
  EXPECT_FALSE(IsFree(*waiter_));
}

TEST_F(CudaStreamTest, WaitsForNothingOnOneStream) {
  const CudaStream& stream = ThreadStream(0, 1);
  Synchronize(stream.stream);
  WaitForStream(stream, stream);
  EXPECT_TRUE(IsStreamFree(0, 1));
}

TEST_F(CudaStreamTest, EventsAreOfTheirDevice) {
  SKIP_BELOW_DEVICES(2);
  for (const int device : {1, 0}) {
    std::vector<cudaEvent_t> events;
    for (int i = 0; i < 40; ++i) {
      events.push_back(TakeCudaEvent(device));
      EXPECT_EQ(RecordEvent(events.back(), ThreadStream(device, 1)), cudaSuccess);
    }
    EXPECT_EQ(std::set(events.begin(), events.end()).size(), events.size());
    for (const cudaEvent_t event : events) GiveCudaEvent(device, event);
  }
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_F(CudaStreamTest, GivesEventsAgain) {
  const cudaEvent_t event = TakeCudaEvent(0);
  EXPECT_NE(event, TakeCudaEvent(0));
  GiveCudaEvent(0, event);
  EXPECT_EQ(TakeCudaEvent(0), event);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_stream_test
