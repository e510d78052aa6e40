// Every state of CUDA's events, every transition between states, and waits in all four directions.
#include "contexts/cuda/cuda_event.h"

#include <optional>
#include <string>
#include <thread>

#include "caffe2rt/caffe2.pb.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/pinned_allocator.h"
#include "tests/contexts/cuda/cuda_fake_testing.h"

namespace caffe2rt::test::cuda_event_test {
namespace {

using testing::HasSubstr;
using enum EventStatus;

class CudaEventStatesTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    RegisterCUDAContext();
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
  static DeviceOption Option(DeviceType type) {
    DeviceOption option;
    option.set_device_type(type);
    return option;
  }
};

// Brings an event into a state. A scheduled event stays scheduled while its gate is closed.
struct InState {
  CUDAContext context;
  Event event;
  std::optional<Gate> gate;
  InState(EventStatus status, const DeviceOption& option) : event(option) {
    if (status == EVENT_SCHEDULED) {
      gate.emplace(context.cuda_stream());
      context.Record(&event);
    }
    if (status == EVENT_SUCCESS) event.SetFinished();
    if (status == EVENT_FAILED) event.SetFinished("broken");
    EXPECT_EQ(event.Query(), status);
  }
  ~InState() {
    gate.reset();
    context.FinishDeviceComputation();
  }
};

TEST_F(CudaEventStatesTest, RecordAndSetFinishedRequireAFreshEvent) {
  for (const EventStatus status : {EVENT_SCHEDULED, EVENT_SUCCESS, EVENT_FAILED}) {
    InState in(status, Option(CUDA));
    EXPECT_THAT(ErrorOf([&] { in.context.Record(&in.event); }), HasSubstr("recorded twice"));
    EXPECT_THAT(ErrorOf([&] { in.context.Record(&in.event, "x"); }), HasSubstr("recorded twice"));
    EXPECT_THAT(ErrorOf([&] { in.event.SetFinished(); }), HasSubstr("has been recorded or finished"));
    EXPECT_EQ(in.event.Query(), status);  // unchanged
    EXPECT_EQ(in.event.ErrorMessage(), status == EVENT_FAILED ? "broken" : "No error");
  }
}

TEST_F(CudaEventStatesTest, ResetGoesBackFromEveryState) {
  for (const EventStatus status :
       {EVENT_INITIALIZED, EVENT_SCHEDULED, EVENT_SUCCESS, EVENT_FAILED}) {
    InState in(status, Option(CUDA));
    in.event.Reset();
    EXPECT_EQ(in.event.Query(), EVENT_INITIALIZED);
    EXPECT_EQ(in.event.ErrorMessage(), "No error");
    in.gate.reset();
    in.context.Record(&in.event);
    in.event.Finish();
    EXPECT_EQ(in.event.Query(), EVENT_SUCCESS);
  }
}

TEST_F(CudaEventStatesTest, FinishOfAFinishedEventReturns) {
  for (const EventStatus status : {EVENT_SUCCESS, EVENT_FAILED}) {
    InState in(status, Option(CUDA));
    in.event.Finish();
    in.context.WaitEvent(in.event);
    EXPECT_EQ(in.event.Query(), status);
  }
}

TEST_F(CudaEventStatesTest, HasNoCallbacks) {
  Event event(Option(CUDA));
  EXPECT_FALSE(event.SupportsCallback());
  EXPECT_THROW(event.SetCallback([] {}), EnforceNotMet);
}

TEST_F(CudaEventStatesTest, FailedRecordIsReportedToTheWaiter) {
  CUDAContext context;
  Event event(Option(CUDA));
  fakecuda_fail("cudaEventRecord", 0, 1, cudaErrorLaunchFailure, 0);
  EXPECT_THROW(context.Record(&event), CudaError);
  EXPECT_EQ(event.Query(), EVENT_FAILED);
  EXPECT_THAT(event.ErrorMessage(), HasSubstr("cudaErrorLaunchFailure"));
  event.Finish();
  event.Reset();
  context.Record(&event);
  event.Finish();
  EXPECT_EQ(event.Query(), EVENT_SUCCESS);
}

TEST_F(CudaEventStatesTest, CarriesTheTextOfWorkThatFailed) {
  const auto body = [] {
    RegisterCUDAContext();
    CUDAContext context;
    context.SwitchToDevice(0);
    const DataPtr memory(CUDAContext::New(8));
    Event asked(Option(CUDA)), awaited(Option(CUDA));
    fakecuda_pause(context.cuda_stream());
    fakecuda_fail_async(0, cudaErrorIllegalAddress);
    context.CopyBytesSameDevice(4, memory.get(), static_cast<char*>(memory.get()) + 4);
    context.Record(&asked);
    context.Record(&awaited);
    fakecuda_resume(context.cuda_stream());
    awaited.Finish();
    for (const Event* event : {&asked, &awaited}) {
      EXPECT_EQ(event->Query(), EVENT_FAILED);
      EXPECT_THAT(event->ErrorMessage(), HasSubstr("illegal memory access"));
    }
    EXPECT_THAT(ErrorOf([&] { context.FinishDeviceComputation(); }),
                HasSubstr("the device stays unusable until the process ends"));
  };
  EXPECT_EXIT(OnMachine({}, body), testing::ExitedWithCode(0), "");
}

// Finish waits only for the record that it found. A reset during the wait detaches the event from
// that record.
TEST_F(CudaEventStatesTest, FinishLeavesAnEventAloneThatIsResetMeanwhile) {
  const struct {
    std::function<void(Event*, const CUDAContext&)> action;
    EventStatus status;
    const char* message;
  } cases[] = {
      {[](Event*, const CUDAContext&) {}, EVENT_INITIALIZED, "No error"},
      {[](Event* e, const CUDAContext& context) { context.Record(e); }, EVENT_SCHEDULED,
       "No error"},
      {[](Event* e, const CUDAContext& context) { context.Record(e, "of the new one"); },
       EVENT_FAILED, "of the new one"},
      {[](Event* e, const CUDAContext&) { e->SetFinished("by hand"); }, EVENT_FAILED, "by hand"}};
  for (const int device : {0, 1}) {
    for (const auto& meanwhile : cases) {
      CUDAContext before(0), after(device);
      after.SwitchToDevice(2);
      before.SwitchToDevice(1);
      Event event(Option(CUDA));
      std::jthread waiter;  // joined after the gates are opened, even if something throws
      Gate first(before.cuda_stream()), second(after.cuda_stream());
      before.Record(&event);
      const long calls = fakecuda_calls("cudaEventSynchronize");
      waiter = std::jthread([&] { event.Finish(); });
      while (fakecuda_calls("cudaEventSynchronize") == calls) std::this_thread::yield();
      event.Reset();
      meanwhile.action(&event, after);
      first.Open();
      waiter.join();
      EXPECT_EQ(event.Query(), meanwhile.status);
      EXPECT_EQ(event.ErrorMessage(), meanwhile.message);
      second.Open();
      if (meanwhile.status == EVENT_SCHEDULED) event.Finish();
      after.FinishDeviceComputation();
      EXPECT_NE(event.Query(), EVENT_SCHEDULED);
    }
  }
}

TEST_F(CudaEventStatesTest, IsRecordedOnOneDeviceAfterAnother) {
  {
    Event event(Option(CUDA));
    for (const int device : {0, 1, 1, 0, 1}) {
      CUDAContext recorder(device), waiter(1 - device);
      waiter.SwitchToDevice(4);
      Gate gate(recorder.cuda_stream());
      recorder.Record(&event);
      waiter.WaitEvent(event);
      EXPECT_EQ(event.Query(), EVENT_SCHEDULED);
      EXPECT_FALSE(IsStreamFree(1 - device, 4));
      gate.Open();
      waiter.FinishDeviceComputation();
      EXPECT_EQ(event.Query(), EVENT_SUCCESS);
      event.Reset();
    }
    CaffeCudaSetDevice(0);
  }
  // The event handle was returned to the stock of its device.
  for (const int device : {0, 1}) {
    const cudaEvent_t event = TakeCudaEvent(device);
    EXPECT_EQ(RecordEvent(event, ThreadStream(device, 0)), cudaSuccess);
    GiveCudaEvent(device, event);
  }
}

TEST_F(CudaEventStatesTest, OlderWaitsStayWithTheirRecord) {
  CUDAContext recorder, waiter;
  waiter.SwitchToDevice(4);
  recorder.SwitchToDevice(3);
  Event event(Option(CUDA));
  Gate gate(recorder.cuda_stream());
  recorder.Record(&event);
  waiter.WaitEvent(event);
  event.Reset();
  recorder.SwitchToDevice(5);
  recorder.Record(&event);
  event.Finish();
  EXPECT_FALSE(IsStreamFree(0, 4));
  gate.Open();
  waiter.FinishDeviceComputation();
}

// The four directions. Work recorded behind a gate must be visible to whoever waited for it.
TEST_F(CudaEventStatesTest, CudaWaitsForCudaOnTheDevice) {
  CUDAContext first, second;
  first.SwitchToDevice(1);
  second.SwitchToDevice(2);
  Event event(Option(CUDA));
  Gate gate(first.cuda_stream());
  first.Record(&event);
  second.WaitEvent(event);  // does not block the host
  EXPECT_FALSE(IsStreamFree(0, 2));
  gate.Open();
  second.FinishDeviceComputation();
  EXPECT_EQ(event.Query(), EVENT_SUCCESS);
}

TEST_F(CudaEventStatesTest, CpuWaitsForCuda) {
  CUDAContext context;
  context.SwitchToDevice(1);
  CPUContext cpu;
  Event event(Option(CUDA));
  const DataPtr memory(CUDAContext::New(4));
  const DataPtr back(PinnedCPUAllocator().New(4));  // the host does not wait for a copy to it
  Gate gate(context.cuda_stream());
  context.CopyBytesFromCPU(4, "abcd", memory.get());
  context.CopyBytesToCPU(4, memory.get(), back.get());
  context.Record(&event);
  std::thread opener([&] { gate.Open(); });
  cpu.WaitEvent(event);
  EXPECT_EQ(std::string(static_cast<const char*>(back.get()), 4), "abcd");
  opener.join();
}

TEST_F(CudaEventStatesTest, CudaWaitsForTheCpu) {
  CUDAContext context;
  Event event(Option(CPU));
  std::thread worker([&] {
    CPUContext cpu;
    cpu.Record(&event);
    event.SetFinished();
  });
  context.WaitEvent(event);  // blocks the host
  EXPECT_EQ(event.Query(), EVENT_SUCCESS);
  worker.join();
}

TEST_F(CudaEventStatesTest, CpuWaitsForTheCpu) {
  Event event(Option(CPU));
  std::thread worker([&] {
    CPUContext cpu;
    cpu.Record(&event);
    event.SetFinished("from the worker");
  });
  CPUContext cpu;
  cpu.WaitEvent(event);
  EXPECT_EQ(event.Query(), EVENT_FAILED);
  EXPECT_EQ(event.ErrorMessage(), "from the worker");
  worker.join();
}

}  // namespace
}  // namespace caffe2rt::test::cuda_event_test
