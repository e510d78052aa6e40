#pragma once
// The description of a device that is known before its library is loaded: its number, its names,
// the file of its module and its flags. A device with a descriptor can be named in nets, operators,
// `--device` and `caffe2 devices` without being linked in; device_module.h loads it when it is
// first requested.
//
//   RegisterDeviceDescriptor({.type = static_cast<DeviceType>(20), .name = "COUNTING"});
//   GetStaticContext(static_cast<DeviceType>(20));   // opens libcaffe2_counting.so
//
// The built-in devices have descriptors from the start (contexts/). A context that is linked in and
// registered at start-up needs none.
//
// The table is thread safe. Descriptors are never removed, so references to them stay valid.

#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/device/device_type.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct DeviceModule;

struct DeviceDescriptor {
  DeviceType type = CPU;
  // Letters, digits and underscores. Messages print it unchanged; `--device`, the module's file
  // name and its entry point (device_module.h) use it in lower case.
  std::string name;
  // Additional names for `--device`, in lower case.
  std::vector<std::string> aliases = {};
  // File name of the module; if empty, "libcaffe2_<name>.so".
  std::string module_file = "";
  // Whether this build includes the module. Affects only the message about a missing module.
  bool in_this_build = true;
  // Returns the module if it is linked in; null if the module is a separate library.
  const DeviceModule* (*linked)() = nullptr;
  // The engines to try, in this order, if neither the operator nor the program names one.
  std::vector<std::string> engines = {};
  // A copy of a blob on this device is named "<blob>_<blob_suffix>_<id>". If empty, the name in
  // lower case.
  std::string blob_suffix = "";
  // The operators that copy a blob from the CPU to this device and back. If empty, CopyFromCPUInput
  // and EnsureCPUOutput.
  std::string copy_from_cpu = "";
  std::string copy_to_cpu = "";
  // Returns the device's flags; null if it has none. GlobalInit registers their names and checks
  // the type of the values that they are given; the values are set when the module is loaded.
  std::vector<Flag> (*flags)() = nullptr;
};

// Adds a device. A device with flags must be registered before GlobalInit. THROWS if the type is
// the CPU or out of range, if a name is invalid, or if the type or a name already has a descriptor.
void RegisterDeviceDescriptor(DeviceDescriptor descriptor);

// The descriptor of a device type, or null if there is none. Costs one atomic load.
const DeviceDescriptor* FindDeviceDescriptor(DeviceType type);
// The descriptor with that name or alias, in lower case as in `--device`; null if there is none.
const DeviceDescriptor* FindDeviceDescriptor(std::string_view name);
// The device that declares operator `op_type` as its copy_from_cpu or copy_to_cpu; null if there is
// none.
const DeviceDescriptor* FindDeviceOfCopy(const std::string& op_type);
// All descriptors, ordered by device type.
std::vector<const DeviceDescriptor*> DeviceDescriptors();

// The built-in devices. Defined in contexts/register.cc; called once.
std::vector<DeviceDescriptor> BuiltinDeviceDescriptors();

}  // namespace caffe2rt
#pragma GCC visibility pop
