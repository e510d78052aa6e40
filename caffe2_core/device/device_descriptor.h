#pragma once
// What is known of a device before its library is loaded: its number and names, where its module is
// found, its flags. With a descriptor a device is available to nets, operators, `--device` and
// `caffe2 devices` without being linked in (device_module.h loads it when it is first asked for).
//
//   RegisterDeviceDescriptor({.type = static_cast<DeviceType>(20), .name = "COUNTING"});
//   GetStaticContext(static_cast<DeviceType>(20));   // opens libcaffe2_counting.so
//
// The devices that come with the library have theirs from the start; contexts/ states them. A
// context that is linked in and registered at start-up needs no descriptor.
//
// The table is thread safe. Descriptors are never removed, so that references to them stay valid.

#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/device/device_type.h"

namespace caffe2rt {

struct DeviceModule;

struct DeviceDescriptor {
  DeviceType type = CPU;
  // Letters, digits and underscores. In messages as it is; in lower case for `--device`, for the
  // module's file and for its entry point (device_module.h).
  std::string name;
  // More names for `--device`, in lower case.
  std::vector<std::string> aliases = {};
  // File name of the module; empty: "libcaffe2_<name>.so".
  std::string module_file = "";
  // Whether this build has the module. Only the message about a missing module depends on it.
  bool in_this_build = true;
  // The module, when it is linked in; null when it is a library of its own.
  const DeviceModule* (*linked)() = nullptr;
  // Engines that are tried, in this order, when neither the operator nor the program names one.
  std::vector<std::string> engines = {};
  // Copies of a blob on this device are named "<blob>_<blob_suffix>_<id>"; empty: the name in lower
  // case.
  std::string blob_suffix = "";
  // Operators that copy from the CPU to this device and back, where it has its own; empty:
  // CopyFromCPUInput and EnsureCPUOutput.
  std::string copy_from_cpu = "";
  std::string copy_to_cpu = "";
  // Flags of the device. GlobalInit makes their names known; the texts they are given are checked
  // and set when the module is loaded. Null: none.
  std::vector<Flag> (*flags)() = nullptr;
};

// Adds a device. Register it before GlobalInit if it has flags. THROWS when the type is the CPU or
// out of range, when a name is unusable, and when type or name has a descriptor already.
void RegisterDeviceDescriptor(DeviceDescriptor descriptor);

// The descriptor of a type, or null. One atomic load.
const DeviceDescriptor* FindDeviceDescriptor(DeviceType type);
// By name or alias, both as `--device` has them (lower case); null if there is none.
const DeviceDescriptor* FindDeviceDescriptor(std::string_view name);
// The device whose own copy operator (copy_from_cpu, copy_to_cpu) `op_type` is; null if there is
// none.
const DeviceDescriptor* FindDeviceOfCopy(const std::string& op_type);
// All, by type.
std::vector<const DeviceDescriptor*> DeviceDescriptors();

// The devices that come with the library (contexts/register.cc defines it); called once.
std::vector<DeviceDescriptor> BuiltinDeviceDescriptors();

}  // namespace caffe2rt
