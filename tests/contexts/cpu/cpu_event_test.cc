#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::cpu_event_test {
namespace {

TEST(CPUEventTest, GoesFromInitializedToSuccess) {
  Event event{DeviceOption()};
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
  CPUContext context;
  context.Record(&event);
  EXPECT_TRUE(event.IsScheduled());
  event.SetFinished();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
  EXPECT_TRUE(event.IsFinished());
  event.Finish();
  context.WaitEvent(event);
}

TEST(CPUEventTest, CarriesTheErrorText) {
  Event event{DeviceOption()};
  event.SetFinished("it broke");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(event.ErrorMessage(), "it broke");
  event.Reset();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_INITIALIZED);
  EXPECT_EQ(event.ErrorMessage(), "No error");
  CPUContext().Record(&event, "again");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);
}

TEST(CPUEventTest, RejectsASecondRecordOrFinish) {
  Event event{DeviceOption()};
  CPUContext context;
  context.Record(&event);
  EXPECT_THROW(context.Record(&event), EnforceNotMet);
  event.SetFinished();
  EXPECT_THROW(event.SetFinished(), EnforceNotMet);
}

TEST(CPUEventTest, FinishWaitsForAnotherThread) {
  Event event{DeviceOption()};
  std::thread worker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    event.SetFinished();
  });
  event.Finish();
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
  worker.join();
}

TEST(CPUEventTest, ReportsNoErrorInEveryGoodState) {
  Event event{DeviceOption()};
  EXPECT_EQ(event.ErrorMessage(), "No error");
  CPUContext().Record(&event);
  EXPECT_EQ(event.ErrorMessage(), "No error");
  event.SetFinished();
  EXPECT_EQ(event.ErrorMessage(), "No error");
}

TEST(CPUEventTest, CallsCallbacksInOrderWhenItIsOver) {
  Event event{DeviceOption()};
  ASSERT_TRUE(event.SupportsCallback());
  std::string calls;
  event.SetCallback([&] { calls += "a"; });
  CPUContext().Record(&event);
  event.SetCallback([&] { calls += "b"; });
  EXPECT_EQ(calls, "");
  event.SetFinished();
  EXPECT_EQ(calls, "ab");
}

TEST(CPUEventTest, CallsACallbackAtOnceWhenItIsOverAlready) {
  Event event{DeviceOption()};
  event.SetFinished("no");
  bool called = false;
  event.SetCallback([&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(CPUEventTest, FailedRecordCallsCallbacks) {
  Event event{DeviceOption()};
  bool called = false;
  event.SetCallback([&] { called = true; });
  CPUContext().Record(&event, "it broke");
  EXPECT_TRUE(called);
}

TEST(CPUEventTest, CallbackMayUseItsEvent) {
  Event event{DeviceOption()};
  std::string calls;
  event.SetCallback([&] {
    // This call would deadlock if the callback ran under the event's lock.
    EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
    event.SetCallback([&] { calls += "last"; });
    calls += "first ";
  });
  event.SetCallback([&] { calls += "second "; });
  event.SetFinished();
  EXPECT_EQ(calls, "first second last");
}

TEST(CPUEventTest, ResetForgetsCallbacks) {
  Event event{DeviceOption()};
  int calls = 0;
  event.SetCallback([&] { ++calls; });
  event.Reset();
  event.SetFinished();
  EXPECT_EQ(calls, 0);
  event.Reset();
  event.SetCallback([&] { ++calls; });
  event.SetFinished();
  EXPECT_EQ(calls, 1);
}

TEST(CPUEventTest, CallsTheOthersWhenACallbackThrows) {
  Event event{DeviceOption()};
  bool called = false;
  event.SetCallback([] { CAFFE_THROW("the callback broke"); });
  event.SetCallback([&] { called = true; });
  EXPECT_THROW(event.SetFinished(), EnforceNotMet);
  EXPECT_TRUE(called);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SUCCESS);
}

TEST(CPUEventTest, ThrowsTheFirstErrorOfItsCallbacksAndCallsLaterOnes) {
  Event event{DeviceOption()};
  int calls = 0;
  event.SetCallback([] { CAFFE_THROW("the first broke"); });
  event.SetCallback([] { CAFFE_THROW("the second broke"); });
  try {
    event.SetFinished();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("the first broke"), std::string::npos) << error.message();
  }
  event.SetCallback([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(event.SetCallback([] { CAFFE_THROW("at once"); }), EnforceNotMet);
  event.SetCallback([&] { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(CPUEventTest, KeepsItsResultWhenItIsFinishedOrRecordedAgain) {
  Event event{DeviceOption()};
  int calls = 0;
  event.SetCallback([&] { ++calls; });
  event.SetFinished("it broke");
  EXPECT_THROW(event.SetFinished(), EnforceNotMet);
  EXPECT_THROW(event.SetFinished("something else"), EnforceNotMet);
  EXPECT_THROW(CPUContext().Record(&event), EnforceNotMet);
  EXPECT_THROW(CPUContext().Record(&event, "something else"), EnforceNotMet);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);
  EXPECT_EQ(event.ErrorMessage(), "it broke");
  EXPECT_EQ(calls, 1);
  event.Reset();
  CPUContext().Record(&event);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_THROW(CPUContext().Record(&event, "late"), EnforceNotMet);
  EXPECT_EQ(event.Query(), EventStatus::EVENT_SCHEDULED);
  EXPECT_EQ(event.ErrorMessage(), "No error");
}

TEST(CPUEventTest, EachCallbackIsCalledOnceWhileAnotherThreadFinishes) {
  for (int round = 0; round < 200; ++round) {
    Event event{DeviceOption()};
    std::atomic<int> calls{0};
    std::thread finisher([&] { event.SetFinished(); });
    for (int i = 0; i < 10; ++i) event.SetCallback([&] { calls.fetch_add(1); });
    finisher.join();
    ASSERT_EQ(calls.load(), 10);
  }
}

TEST(CPUEventTest, ChildMayBeScheduledAfterSuccessOrOnTheSameDevice) {
  Event event{DeviceOption()};
  EXPECT_FALSE(Event::CanSchedule(event, CPU, true));
  CPUContext().Record(&event);
  EXPECT_TRUE(Event::CanSchedule(event, CPU, true));
  EXPECT_FALSE(Event::CanSchedule(event, CPU, false));
  EXPECT_FALSE(Event::CanSchedule(event, CUDA, true));
  event.SetFinished();
  EXPECT_TRUE(Event::CanSchedule(event, CUDA, false));
  event.Reset();
  event.SetFinished("no");
  EXPECT_FALSE(Event::CanSchedule(event, CPU, true));
}

TEST(EventTest, DeviceWithoutEventsIsAnError) {
  DeviceOption option;
  option.set_device_type(HIP);
  EXPECT_THROW(Event event(option), EnforceNotMet);
  option.set_device_type(99);
  EXPECT_THROW(Event event(option), EnforceNotMet);
}

TEST(EventTest, ContextOfAnotherDeviceCannotRecord) {
  Event event{DeviceOption()};
  EXPECT_THROW(event.Record(CUDA, nullptr), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::cpu_event_test
