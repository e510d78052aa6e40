// Events of a device defined by the test: which of its functions an Event calls, and with what.
#include "caffe2_core/device/event.h"

#include <array>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::event_test {
namespace {

using test::ExpectThrows;

constexpr auto kBell = static_cast<DeviceType>(22);
constexpr auto kSilent = static_cast<DeviceType>(23);
std::vector<std::string> g_calls;
EventStatus g_status = EventStatus::EVENT_INITIALIZED;

DeviceOption OptionOf(DeviceType type, int id = 0) {
  DeviceOption option;
  option.set_device_type(type);
  option.set_device_id(id);
  return option;
}

// Fills the row of the device, in which the CPU waits in a way of its own.
void RegisterBell() {
  EventFunctionsOf(kBell) = {
      .create = [](const DeviceOption& option,
                   Event*) { g_calls.push_back(MakeString("create ", option.device_id())); },
      .record = [](Event*, const void*, const char* error) {
        g_calls.push_back(MakeString("record ", error != nullptr ? error : "fine"));
      },
      .finish = [](const Event*) { g_calls.emplace_back("finish"); },
      .query = [](const Event*) { return g_status; },
      .error_message = [](const Event*) { return std::string("cracked"); },
      .set_finished = [](Event*, const char* error) {
        g_calls.push_back(MakeString("finished ", error != nullptr ? error : "fine"));
      },
      .reset = [](Event*) { g_calls.emplace_back("reset"); }};
  EventFunctionsOf(kBell).wait[CPU] = [](const Event*, void*) { g_calls.emplace_back("wait"); };
  g_calls.clear();
}

TEST(EventTest, CallsTheFunctionsOfItsDevice) {
  RegisterBell();
  Event event(OptionOf(kBell, 3));
  EXPECT_EQ(event.GetType(), kBell);
  event.Record(kBell, nullptr);
  event.Record(kBell, nullptr, "late");
  event.Wait(CPU, nullptr);
  event.Wait(IDEEP, nullptr);  // which has no way of its own: the thread waits
  event.Finish();
  event.SetFinished();
  event.SetFinished("broken");
  event.Reset();
  EXPECT_EQ(g_calls, (std::vector<std::string>{"create 3", "record fine", "record late", "wait",
                                               "finish", "finish", "finished fine",
                                               "finished broken", "reset"}));
  EXPECT_EQ(event.ErrorMessage(), "cracked");
}

TEST(EventTest, IsFinishedByAFailureToo) {
  RegisterBell();
  const Event event(OptionOf(kBell));
  const struct {
    EventStatus status;
    bool scheduled, finished;
  } rows[] = {{EventStatus::EVENT_INITIALIZED, false, false},
              {EventStatus::EVENT_SCHEDULED, true, false},
              {EventStatus::EVENT_SUCCESS, false, true},
              {EventStatus::EVENT_FAILED, false, true}};
  for (const auto& row : rows) {
    g_status = row.status;
    EXPECT_EQ(event.Query(), row.status);
    EXPECT_EQ(event.IsScheduled(), row.scheduled);
    EXPECT_EQ(event.IsFinished(), row.finished);
  }
}

// Work may be enqueued behind a parent that has succeeded, or one on the same device whose work the
// device itself waits for.
TEST(EventTest, WorkIsScheduledBehindAParentThatTheDeviceWaitsFor) {
  RegisterBell();
  const Event parent(OptionOf(kBell));
  const struct {
    EventStatus status;
    DeviceType child;
    bool async, want;
  } rows[] = {{EventStatus::EVENT_SUCCESS, CPU, false, true},
              {EventStatus::EVENT_SUCCESS, kBell, true, true},
              {EventStatus::EVENT_SCHEDULED, kBell, true, true},
              {EventStatus::EVENT_SCHEDULED, kBell, false, false},
              {EventStatus::EVENT_SCHEDULED, CPU, true, false},
              {EventStatus::EVENT_INITIALIZED, kBell, true, false},
              {EventStatus::EVENT_FAILED, kBell, true, false}};
  for (const auto& row : rows) {
    g_status = row.status;
    EXPECT_EQ(Event::CanSchedule(parent, row.child, row.async), row.want)
        << static_cast<int>(row.status) << " " << row.child << " " << row.async;
  }
}

TEST(EventTest, CallbacksNeedADeviceThatHasThem) {
  RegisterBell();
  Event event(OptionOf(kBell));
  int called = 0;
  EXPECT_FALSE(event.SupportsCallback());
  ExpectThrows([&] { event.SetCallback([&] { ++called; }); }, "have no callbacks");
  EventFunctionsOf(kBell).set_callback = [](Event*, std::function<void()> callback) { callback(); };
  EXPECT_TRUE(event.SupportsCallback());
  event.SetCallback([&] { ++called; });
  EXPECT_EQ(called, 1);
}

TEST(EventTest, RejectsOtherDevicesAndNumbersOutOfRange) {
  RegisterBell();
  Event event(OptionOf(kBell));
  ExpectThrows([&] { event.Record(CPU, nullptr); }, "cannot be recorded by a context of CPU");
  EXPECT_EQ(g_calls, std::vector<std::string>{"create 0"});
  ExpectThrows([&] { event.Wait(static_cast<DeviceType>(kMaxDeviceTypes), nullptr); },
               "device type of the waiter is 32");
  ExpectThrows([&] { event.Wait(static_cast<DeviceType>(-1), nullptr); },
               "device type of the waiter is -1");
  ExpectThrows([] { Event silent(OptionOf(kSilent)); }, "has no events");
  ExpectThrows([] { EventFunctionsOf(static_cast<DeviceType>(kMaxDeviceTypes)); },
               "device type 32 has no events, want 0 to 31");
  ExpectThrows([] { Event far(OptionOf(static_cast<DeviceType>(32))); }, "32");
}

}  // namespace
}  // namespace caffe2rt::event_test
