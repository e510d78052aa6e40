#include "contexts/cuda/cuda_graph.h"

#include <thread>

#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_graph_testing.h"

namespace caffe2rt::test::cuda_graph_test {
namespace {

using testing::HasSubstr;

TEST_F(CudaGraphTest, ReplaysWhatItRecorded) {
  graph_->BeginCapture(0);
  CopyOnDevice();
  std::string reason;
  ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  EXPECT_EQ(Get(to_), 2);  // recording does not run anything
  graph_->Launch(0);
  EXPECT_EQ(Get(to_), 1);
  Set(from_, 7);
  graph_->Launch(0);
  EXPECT_EQ(Get(to_), 7);
}

TEST_F(CudaGraphTest, RecordsAgain) {
  std::string reason;
  for (const int value : {3, 4}) {
    graph_->BeginCapture(0);
    CopyOnDevice();
    ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
    Set(from_, value);
    graph_->Launch(0);
    EXPECT_EQ(Get(to_), value);
  }
}

TEST_F(CudaGraphTest, RejectsDeviceMemory) {
  const std::string reason = ReasonAgainst([] {
    EXPECT_EQ(ErrorOf([] { CUDAContext::New(1 << 20); }),
              "device memory is allocated while a CUDA graph is captured: a graph cannot replay "
              "this");
  });
  EXPECT_EQ(reason, "device memory is allocated");
}

TEST_F(CudaGraphTest, RejectsFreesOfDeviceMemory) {
  DataPtr memory(CUDAContext::New(100));
  EXPECT_EQ(ReasonAgainst([&] { memory.Reset(); }), "device memory is freed");
}

TEST_F(CudaGraphTest, RejectsPageableMemory) {
  int value = 5;
  const std::string from = ReasonAgainst([&] {
    EXPECT_THAT(ErrorOf([&] { context_->CopyBytesFromCPU(sizeof(int), &value, to_.get()); }),
                HasSubstr("pageable memory is copied while"));
  });
  EXPECT_EQ(from, "pageable memory is copied");
  Set(to_, 2);
  EXPECT_EQ(ReasonAgainst([&] {
              EXPECT_NE(ErrorOf([&] { context_->CopyBytesToCPU(sizeof(int), to_.get(), &value); }),
                        "");
            }),
            "pageable memory is copied");
}

TEST_F(CudaGraphTest, RejectsWaitsAndEvents) {
  EXPECT_EQ(
      ReasonAgainst([&] { EXPECT_THROW(context_->FinishDeviceComputation(), EnforceNotMet); }),
      "the host waits for the device");
  Set(to_, 2);
  DeviceOption option;
  option.set_device_type(CUDA);
  Event event(option);
  EXPECT_EQ(ReasonAgainst([&] { EXPECT_THROW(context_->Record(&event), EnforceNotMet); }),
            "an event is recorded");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);  // so that waiters do not wait forever
  Set(to_, 2);
  CUDAContext other;
  other.SwitchToDevice(3);
  context_->SwitchToDevice(0);
  Event pending(option);
  Gate gate(other.cuda_stream());
  other.Record(&pending);
  EXPECT_EQ(ReasonAgainst([&] { EXPECT_THROW(context_->WaitEvent(pending), EnforceNotMet); }),
            "a stream waits for an event");
}

TEST_F(CudaGraphTest, ReplaysCopiesOfPinnedMemory) {
  PinnedCPUAllocator allocator;
  const DataPtr pinned(allocator.New(sizeof(int)));
  int* const value = static_cast<int*>(pinned.get());
  *value = 11;
  graph_->BeginCapture(0);
  context_->CopyBytesFromCPU(sizeof(int), value, to_.get());
  std::string reason;
  ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  *value = 12;
  graph_->Launch(0);
  EXPECT_TRUE(context_->stream().has_host_copies);  // freed pinned memory waits for the copy
  EXPECT_EQ(Get(to_), 12);
}

TEST_F(CudaGraphTest, LeavesOtherThreadsAlone) {
  // The home stream of the memory is another thread's. It was also used on the stream that is
  // recorded.
  DataPtr shared;
  std::thread([&] {
    CUDAContext theirs;
    theirs.SwitchToDevice(0);
    shared = DataPtr(CUDAContext::New(1000));
  }).join();
  const auto [data, deleter] = shared.Release();
  GetCUDAStaticContext()->RecordUse(deleter, *context_);
  graph_->BeginCapture(0);
  CopyOnDevice();
  std::thread([data = data, deleter = deleter] {
    CUDAContext theirs;
    theirs.SwitchToDevice(0);
    deleter(data);
    const DataPtr memory(CUDAContext::New(1 << 20));
    theirs.FinishDeviceComputation();
    ReleaseCachedCudaMemory();  // waits for the recorded stream's earlier work
  }).join();
  CopyOnDevice();
  std::string reason;
  ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  graph_->Launch(0);
  EXPECT_EQ(Get(to_), 1);
  CudaPool(0).CheckInvariants();
}

TEST_F(CudaGraphTest, KeepsScratchMemoryThatItRecorded) {
  context_->SwitchToDevice(9);
  void* const scratch = CudnnWorkspace(*context_, 1000);
  graph_->BeginCapture(9);
  EXPECT_EQ(CudnnWorkspace(*context_, 1000), scratch);
  context_->CopyBytesSameDevice(sizeof(int), from_.get(), scratch);
  std::string reason;
  ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  CudnnWorkspace(*context_, size_t{3} << 20);
  const DataPtr next(CUDAContext::New(size_t{1} << 20));
  EXPECT_NE(next.get(), scratch);  // is not reused
  context_->SwitchToDevice(0);
}

TEST_F(CudaGraphTest, RequiresItsCallsInOrder) {
  std::string reason;
  EXPECT_THAT(ErrorOf([&] { graph_->Launch(0); }), HasSubstr("nothing has been captured"));
  EXPECT_THAT(ErrorOf([&] { graph_->EndCapture(&reason); }), HasSubstr("without BeginCapture"));
  graph_->BeginCapture(0);
  CudaGraph second(0);
  EXPECT_THAT(ErrorOf([&] { second.BeginCapture(1); }), HasSubstr("already captures a CUDA graph"));
  EXPECT_TRUE(graph_->EndCapture(&reason)) << reason;
  EXPECT_THROW(CudaGraph(99), EnforceNotMet);
}

TEST_F(CudaGraphTest, EndsItsRecordingWhenItGoes) {
  {
    CudaGraph graph(0);
    graph.BeginCapture(0);
    CopyOnDevice();
  }
  EXPECT_EQ(RecordingOfThread(), nullptr);
  CopyOnDevice();
  EXPECT_EQ(Get(to_), 1);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_graph_test
