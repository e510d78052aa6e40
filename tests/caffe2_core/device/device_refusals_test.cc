// Errors of device types, contexts, descriptors and events, whole.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_module.h"
#include "caffe2_core/device/event.h"
#include "tests/caffe2_core/device/host_device.h"
#include "tests/support/refusals.h"

namespace caffe2rt::device_refusals_test {
namespace {

using test::ExpectRefusals;
using test::MessageOf;

DeviceType Number(int number) { return static_cast<DeviceType>(number); }

constexpr int kHost = 30;

// Registers the device without events once.
BaseStaticContext* HostContext() {
  static BaseStaticContext* const context = [] {
    RegisterStaticContext(Number(kHost), "REFUSALS", &test::HostStaticContext<kHost>::Get());
    return &test::HostStaticContext<kHost>::Get();
  }();
  return context;
}

TEST(DeviceRefusalsTest, OfContexts) {
  BaseStaticContext* const host = HostContext();
  const auto context = host->CreateContext();
  const TypeMeta text = TypeMeta::Make<std::string>();
  const std::string from[1] = {"a"};
  std::string to[1];
  char bytes[4] = "abc", copy[4] = {};
  ExpectRefusals({
      {[&] { RegisterStaticContext(Number(32), "far", host); },
       "cannot register \"far\" as device type 32, want 0 to 31"},
      {[&] { RegisterStaticContext(Number(-1), "near", host); },
       "cannot register \"near\" as device type -1, want 0 to 31"},
      {[&] { RegisterStaticContext(Number(kHost), "again", host); },
       "device type 30 is registered twice: as \"REFUSALS\" and as \"again\""},
      {[&] { context->CopyBytesToDevice(4, bytes, copy, CUDA); },
       "cannot copy from REFUSALS to CUDA directly: copy through the CPU"},
      {[&] { context->CopyItemsSameDevice(text, 1, from, to); },
       "elements of type string are supported only on the CPU, not on "
       "REFUSALS"},
      {[&] { context->CopyItemsFromCPU(text, 1, from, to); },
       "elements of type string are supported only on the CPU, not on "
       "REFUSALS"},
      {[&] { context->CopyItemsToCPU(text, 1, from, to); },
       "elements of type string are supported only on the CPU, not on "
       "REFUSALS"},
  });
  EXPECT_EQ(copy[0], 0);
  context->CopyBytesToDevice(4, bytes, copy, Number(kHost));
  EXPECT_STREQ(copy, "abc");
  const std::string missing = MessageOf([] { GetStaticContext(Number(23)); });
  EXPECT_EQ(missing.find("device device type 23 (type 23) is not available; available: CPU"), 0u)
      << missing;
  const std::string end = "; load the module that provides it, or run on the CPU";
  EXPECT_EQ(missing.substr(missing.size() - end.size()), end);
  EXPECT_EQ(MessageOf([] { EnforceDeviceModule(Number(23)); }),
            "device device type 23 has no module");
}

TEST(DeviceRefusalsTest, OfDescriptors) {
  RegisterDeviceDescriptor({.type = Number(13), .name = "TABLET", .aliases = {"clay"}});
  const auto named = [](const std::string& name, const std::vector<std::string>& aliases = {}) {
    return std::function<void()>([name, aliases] {
      RegisterDeviceDescriptor({.type = Number(14), .name = name, .aliases = aliases});
    });
  };
  const auto unusable = [](const std::string& name) {
    return "device type 14 cannot have the name \"" + name +
           "\", want letters, digits and underscores (aliases in lower case), not cpu or auto";
  };
  ExpectRefusals({
      {[] { RegisterDeviceDescriptor({.type = CPU, .name = "HOST"}); },
       "device \"HOST\" has device type 0, want 1 to 31"},
      {[] { RegisterDeviceDescriptor({.type = Number(32), .name = "FAR"}); },
       "device \"FAR\" has device type 32, want 1 to 31"},
      {named(""), unusable("")},
      {named("CPU"), unusable("cpu")},
      {named("Auto"), unusable("auto")},
      {named("a-b"), unusable("a-b")},
      {named("X", {"Loud"}), unusable("Loud")},
      {named("X", {"a b"}), unusable("a b")},
      {named("Tablet"),
       "device type 14 cannot have the name \"tablet\": it is a name of \"TABLET\""},
      {named("X", {"clay"}),
       "device type 14 cannot have the name \"clay\": it is a name of \"TABLET\""},
      {[] { RegisterDeviceDescriptor({.type = Number(13), .name = "OTHER"}); },
       "device type 13 is described twice: as \"TABLET\" and as \"OTHER\""},
  });
  EXPECT_EQ(FindDeviceDescriptor(Number(14)), nullptr);
  RegisterDeviceDescriptor({.type = Number(14), .name = "Last_9"});
  EXPECT_EQ(FindDeviceDescriptor("last_9")->type, 14);
}

DeviceOption OptionOf(int type) {
  DeviceOption option;
  option.set_device_type(type);
  return option;
}

TEST(DeviceRefusalsTest, OfEvents) {
  HostContext();
  Event event{DeviceOption()};
  EventFunctionsOf(Number(29)).create = [](const DeviceOption&, Event*) {};
  Event quiet(OptionOf(29));
  EXPECT_FALSE(quiet.SupportsCallback());
  EXPECT_TRUE(event.SupportsCallback());
  ExpectRefusals({
      {[] { (void)EventFunctionsOf(Number(32)); }, "device type 32 has no events, want 0 to 31"},
      {[] { (void)EventFunctionsOf(Number(-1)); }, "device type -1 has no events, want 0 to 31"},
      {[] { const Event none(OptionOf(kHost)); }, "device REFUSALS has no events"},
      {[] { const Event none(OptionOf(32)); }, "device type 32 is not known, want 0 (CPU) to 31"},
      {[&] { event.Record(Number(kHost), nullptr); },
       "an event of CPU cannot be recorded by a context of REFUSALS"},
      {[&] { quiet.SetCallback([] {}); }, "events of device type 29 have no callbacks"},
      {[&] { event.Wait(Number(32), nullptr); }, "device type of the waiter is 32"},
      {[&] { event.Wait(Number(-1), nullptr); }, "device type of the waiter is -1"},
  });
}

// A child may start when its parent has ended, or while it runs on the same device, if the child's
// operator can wait there.
TEST(DeviceRefusalsTest, ChildrenAreScheduledByTheStateOfTheirParents) {
  Event waiting{DeviceOption()}, ended{DeviceOption()}, failed{DeviceOption()};
  ended.SetFinished();
  failed.SetFinished("it broke");
  for (const bool async : {false, true}) {
    for (const DeviceType child : {CPU, Number(kHost)}) {
      EXPECT_FALSE(Event::CanSchedule(waiting, child, async));
      EXPECT_TRUE(Event::CanSchedule(ended, child, async));
      EXPECT_FALSE(Event::CanSchedule(failed, child, async));
    }
  }
}

// Modules that are linked in: one of another version, one without its required function, one that
// does not keep its word, one that throws, and one without a device.
const DeviceModule* OtherVersion() {
  static const DeviceModule module{.interface = kDeviceModuleInterface + 1};
  return &module;
}
const DeviceModule* Incomplete() {
  static const DeviceModule module;
  return &module;
}
const DeviceModule* WithoutContext() {
  static const DeviceModule module{
      .register_context = [] { return DevicePresence{.state = DeviceState::kReady}; }};
  return &module;
}
const DeviceModule* Throwing() {
  static const DeviceModule module{
      .register_context = []() -> DevicePresence { throw std::runtime_error("smoke"); }};
  return &module;
}
const DeviceModule* WithoutDevice() {
  static const DeviceModule module{.register_context = [] {
    return DevicePresence{.state = DeviceState::kNoDevice, .message = "plug it in"};
  }};
  return &module;
}

TEST(DeviceRefusalsTest, OfModules) {
  const struct {
    int type;
    const char* name;
    const DeviceModule* (*linked)();
    DeviceState state;
    const char* message;
    bool loads;
  } rows[] = {
      {15, "MODA", &OtherVersion, DeviceState::kBroken,
       "MODA: \"\" was built with another version of this library: got 3, want 2", false},
      {16, "MODB", &Incomplete, DeviceState::kBroken,
       "MODB: \"\" has no function that registers its context", false},
      {20, "MODC", &WithoutContext, DeviceState::kBroken,
       "MODC: its module reports that the device is ready, but did not register a context for it",
       true},
      {18, "MODD", &Throwing, DeviceState::kBroken, "MODD: cannot start: smoke", true},
      {19, "MODE", &WithoutDevice, DeviceState::kNoDevice, "plug it in", true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const DeviceType type = Number(row.type);
    RegisterDeviceDescriptor({.type = type, .name = row.name, .linked = row.linked});
    EXPECT_EQ(LoadDeviceModule(type), row.loads ? row.linked() : nullptr);
    for (int run = 0; run < 2; ++run) {  // the first answer is final
      const DevicePresence& presence = FindDevice(type);
      EXPECT_EQ(presence.state, row.state);
      EXPECT_EQ(presence.message, row.message);
      EXPECT_EQ(presence.path, "");
    }
    EXPECT_EQ(LoadDeviceModule(type), row.state == DeviceState::kBroken ? nullptr : row.linked());
    EXPECT_EQ(MessageOf([&] { EnforceDeviceModule(type); }),
              std::string(row.message) + "; run on the CPU");
    const std::string missing = MessageOf([&] { GetStaticContext(type); });
    EXPECT_TRUE(missing.starts_with(
        MakeString("device ", row.name, " (type ", row.type, ") is not available; available: CPU")))
        << missing;
    EXPECT_TRUE(missing.ends_with(MakeString("; ", row.message, "; run on the CPU"))) << missing;
  }
  // A type without a descriptor has a device if the program has registered a context.
  HostContext();
  EXPECT_EQ(FindDevice(Number(kHost)).state, DeviceState::kReady);
  EXPECT_EQ(FindDevice(Number(23)).state, DeviceState::kNoModule);
  EXPECT_EQ(LoadDeviceModule(Number(kHost)), nullptr);
}

TEST(DeviceRefusalsTest, StatesOfDevicesHaveNames) {
  const std::pair<DeviceState, std::string> rows[] = {
      {DeviceState::kNoModule, "no module"},
      {DeviceState::kBroken, "broken module"},
      {DeviceState::kNoDriver, "no driver"},
      {DeviceState::kNoDevice, "no device"},
      {DeviceState::kUnavailable, "driver does not start"},
      {DeviceState::kReady, "ready"}};
  for (const auto& [state, name] : rows) EXPECT_EQ(DeviceStateName(state), name);
}

}  // namespace
}  // namespace caffe2rt::device_refusals_test
