// Graphs that are launched on other streams than they were recorded on, and on other threads and
// devices.
#include <thread>

#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_graph_testing.h"

namespace caffe2rt::test::cuda_graph_launch_test {
namespace {

using CudaGraphLaunchTest = CudaGraphTest;

// Must hold even after a wait, which clears the record of pending copies.
TEST_F(CudaGraphLaunchTest, KeepsPinnedMemoryUntilItsCopyIsOver) {
  PinnedCPUAllocator allocator;
  constexpr size_t kBytes = 100000;
  const DataPtr device(CUDAContext::New(kBytes));
  for (const int stream : {0, 1}) {
    DataPtr pinned(allocator.New(kBytes));
    void* const first = pinned.get();
    graph_->BeginCapture(0);
    context_->CopyBytesFromCPU(kBytes, first, device.get());
    std::string reason;
    ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
    context_->FinishDeviceComputation();
    EXPECT_FALSE(context_->stream().has_host_copies);
    Gate gate(ThreadStream(0, stream).stream);
    graph_->Launch(stream);
    pinned.Reset();
    EXPECT_NE(DataPtr(allocator.New(kBytes)).get(), first);
    gate.Open();
    Synchronize(ThreadStream(0, stream).stream);
    context_->FinishDeviceComputation();
  }
}

TEST_F(CudaGraphLaunchTest, GraphWithoutPinnedMemoryHoldsNone) {
  const DataPtr pinned(PinnedCPUAllocator().New(sizeof(int)));
  graph_->BeginCapture(0);
  context_->CopyBytesFromCPU(sizeof(int), pinned.get(), to_.get());
  std::string reason;
  ASSERT_TRUE(graph_->EndCapture(&reason)) << reason;
  RecordCopy();  // replaces the previous recording
  context_->FinishDeviceComputation();
  graph_->Launch(0);
  EXPECT_FALSE(context_->stream().has_host_copies);
}

// Launches share the scratch memory of the recorded stream.
TEST_F(CudaGraphLaunchTest, LaunchesFollowOneAnotherOnAnyStream) {
  RecordCopy();
  for (const int first : {0, 1}) {
    Gate gate(ThreadStream(0, first).stream);
    graph_->Launch(first);
    graph_->Launch(2);
    for (const int stream : {first, 0, 2}) EXPECT_TRUE(StaysBusy(0, stream)) << stream;
    std::thread([&] {  // this thread has its own streams
      graph_->Launch(0);
      EXPECT_TRUE(StaysBusy(0, 0));
      gate.Open();
      Synchronize(ThreadStream(0, 0).stream);
    })
        .join();
    context_->FinishDeviceComputation();
    Synchronize(ThreadStream(0, 2).stream);
  }
}

TEST_F(CudaGraphLaunchTest, RunsOnADeviceThatIsNotCurrent) {
  SKIP_BELOW_DEVICES(2);
  CUDAContext there(1);
  there.SwitchToDevice(0);
  const DataPtr from(CUDAContext::New(sizeof(int))), to(CUDAContext::New(sizeof(int)));
  CaffeCudaSetDevice(0);
  const int value = 5;
  there.CopyBytesFromCPU(sizeof(int), &value, from.get());
  CudaGraph graph(1);
  graph.BeginCapture(0);
  there.CopyBytesSameDevice(sizeof(int), from.get(), to.get());
  std::string reason;
  ASSERT_TRUE(graph.EndCapture(&reason)) << reason;
  Gate gate(ThreadStream(1, 1).stream);
  graph.Launch(1);
  EXPECT_TRUE(StaysBusy(1, 0));
  gate.Open();
  int back = 0;
  there.CopyBytesToCPU(sizeof(int), to.get(), &back);
  there.FinishDeviceComputation();
  EXPECT_EQ(back, 5);
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
}

TEST_F(CudaGraphLaunchTest, KeepsItsOrderOnAnotherStream) {
  RecordCopy();
  Gate gate(context_->cuda_stream());
  // Becomes 2 when the gate opens.
  context_->CopyBytesSameDevice(sizeof(int), to_.get(), from_.get());
  graph_->Launch(1);
  CUDAContext other;
  other.SwitchToDevice(1);
  EXPECT_TRUE(StaysBusy(0, 1));
  gate.Open();
  other.FinishDeviceComputation();
  context_->SwitchToDevice(0);
  EXPECT_EQ(Get(from_), 2);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_graph_launch_test
