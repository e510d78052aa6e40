#pragma once
// Device modules: shared libraries that implement a device and are loaded when the device is first
// requested. device_descriptor.h lists the devices.
//
// A program that only uses such a device does not call these functions: FindStaticContext and the
// lookups of operators do. They are for programs that report what is available, and for sources
// that need more of a device than its context offers (DeviceModule::extension).
//
// The module of a device named COUNTING is libcaffe2_counting.so. It is searched for in this order:
//
//   1. a copy that the process has already loaded
//   2. the file that the environment variable CAFFE2_COUNTING_MODULE names; if the variable is set,
//      the search ends here
//   3. the folder of the core's library or of the program, and the folder ../lib next to it
//   4. the search path of the dynamic loader
//
// The module exports one function:
//
//   extern "C" const caffe2rt::DeviceModule* caffe2rt_counting_module();
//
// A failure to load is final for the process, and its reason is kept. A module is never unloaded.
// All functions are thread safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_type.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class DeviceState {
  kNoModule,     // no module was found
  kBroken,       // a module was found but cannot be used
  kNoDriver,     // there is no driver, or it is too old
  kNoDevice,     // there is a driver but no device
  kUnavailable,  // the driver does not start
  kReady,
};
// "no module", "no driver", ...
const char* DeviceStateName(DeviceState state);

struct DevicePresence {
  DeviceState state = DeviceState::kNoModule;
  int devices = 0;
  std::string message = "";  // one line for the user; a warning, or empty, if the device is ready
  std::string path = "";     // of the module; empty if there is none or it is linked in
};

// What `caffe2 devices` prints about a device type.
struct DeviceDescription {
  struct Fact {
    std::string key;  // JSON key, such as "compute_capability"; text output replaces "_" with " "
    std::string value;
  };
  struct Device {
    std::string name;
    uint64_t memory_bytes;
    std::vector<Fact> facts;
  };
  // A library that the device uses if the library is installed.
  struct Library {
    std::string name;
    bool found;
    std::string detail;  // its path and version, or why it is missing
  };
  std::vector<Device> devices = {};
  std::vector<Library> libraries = {};
};

inline constexpr int kDeviceModuleInterface = 2;

// The functions that a module provides. They are plain function pointers, so that the core needs
// none of the module's symbols.
struct DeviceModule {
  // The interface version of the headers that the module was built with.
  int interface = kDeviceModuleInterface;
  // Registers the device's operators; null if there are none. Called once, when the module is
  // loaded. Must not start a device or query the driver.
  void (*register_operators)() = nullptr;
  // Queries the driver, and calls RegisterStaticContext if there is a device. Called once.
  // Required.
  DevicePresence (*register_context)() = nullptr;
  // Describes the devices; null if the module cannot. Must not start a device.
  DeviceDescription (*describe)() = nullptr;
  // Returns a table of further functions by name, or null for an unknown name. The caller declares
  // the type of the table, which begins with a version number that the caller checks. Null if the
  // module has no extensions.
  const void* (*extension)(std::string_view name) = nullptr;
};

// The module of a device type, opened by the first call. Null if no usable module was found, if the
// type has no descriptor, or if the program registered the device's context itself. Does not start
// a device and does not query the driver.
const DeviceModule* LoadDeviceModule(DeviceType type);

// Loads the module and queries the driver. If there is a device, its static context is registered.
// Returns the state of the device. For a type without a descriptor, the state is kReady if a static
// context is registered, and kNoModule otherwise.
const DevicePresence& FindDevice(DeviceType type);

// The module of a device type that has at least one device. THROWS the reason if there is none.
const DeviceModule& EnforceDeviceModule(DeviceType type);

}  // namespace caffe2rt
#pragma GCC visibility pop
