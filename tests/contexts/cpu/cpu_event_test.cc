#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
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
  EXPECT_EQ(event.ErrorMessage(), "");
  CPUContext().Record(&event, "again");
  EXPECT_EQ(event.Query(), EventStatus::EVENT_FAILED);
}

TEST(CPUEventTest, RefusesToBeRecordedOrFinishedTwice) {
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
}  // namespace caffe2rt
