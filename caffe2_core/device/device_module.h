#pragma once
// Devices that come in a library of their own, their module: loaded when the device is first asked
// for. device_descriptor.h says which devices there are.
//
// A program that uses such a device calls nothing of this: FindStaticContext and the look-ups of
// operators do. It is for programs that report what is available, and for sources that need more
// of a device than a context gives (DeviceModule::extension).
//
// For a device with the name COUNTING the module is libcaffe2_counting.so. It is searched for in
// this order: a copy that the process has already; the file that the environment names
// (CAFFE2_COUNTING_MODULE), and then no other; the folder of the core's library or program, and
// ../lib from there; the loader's own path. The module exports one function:
//
//   extern "C" const caffe2rt::DeviceModule* caffe2rt_counting_module();
//
// A failure is remembered with its reason. A module is never closed. Thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_type.h"

namespace caffe2rt {

enum class DeviceState {
  kNoModule,     // no module was found
  kBroken,       // one was found, and cannot be used
  kNoDriver,     // no driver, or one that is too old
  kNoDevice,     // a driver and no device
  kUnavailable,  // the driver does not start
  kReady,
};
// "no module", "no driver", ...
const char* DeviceStateName(DeviceState state);

struct DevicePresence {
  DeviceState state = DeviceState::kNoModule;
  int devices = 0;
  std::string message = "";  // one line for a person; may warn of something when ready
  std::string path = "";     // of the module; empty when there is none or it is linked in
};

// What `caffe2 devices` prints of a device type.
struct DeviceDescription {
  struct Fact {
    std::string key;  // "compute_capability": a key of JSON; in text its underscores are blanks
    std::string value;
  };
  struct Device {
    std::string name;
    uint64_t memory_bytes;
    std::vector<Fact> facts;
  };
  // A library that the device uses if it is installed.
  struct Library {
    std::string name;
    bool found;
    std::string detail;  // why it is missing; empty when it was found
  };
  std::vector<Device> devices = {};
  std::vector<Library> libraries = {};
};

inline constexpr int kDeviceModuleInterface = 2;

// What a module gives the core: plain functions, so that the core needs none of its symbols.
struct DeviceModule {
  int interface = kDeviceModuleInterface;  // of the headers that the module was built with
  // Called once, when the module is loaded; starts no device and does not ask the driver.
  void (*register_operators)() = nullptr;
  // Asks the driver, and calls RegisterStaticContext if there is a device. Called once.
  DevicePresence (*register_context)() = nullptr;
  // Starts no device. Null: there is nothing to say.
  DeviceDescription (*describe)() = nullptr;
  // More functions of the module, as a table that its user declares; null for a name that the
  // module does not know. The table begins with a version that its user checks. Null: none.
  const void* (*extension)(std::string_view name) = nullptr;
};

// The module of a device type; opens it on the first call. Null when there is none, for a type
// without a descriptor, and in a program that registered the device by itself. Starts no device and
// does not ask the driver.
const DeviceModule* LoadDeviceModule(DeviceType type);

// The same, and asks the driver: the device's static context is registered when there is a device.
// A type without a descriptor is ready when its context is registered, and has no module else.
const DevicePresence& FindDevice(DeviceType type);

// The module, with at least one device. THROWS the reason when there is none.
const DeviceModule& EnforceDeviceModule(DeviceType type);

}  // namespace caffe2rt
