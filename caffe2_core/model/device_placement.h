#pragma once
// Prepares nets for the devices on which they are to run.

#include <optional>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Assigns `device` to each operator of the net, and of nets in arguments, that has an
// implementation for it. The other operators run on the CPU. Operators that already name a device
// other than the CPU keep it, unless it is available and has no implementation of the operator.
// Sets the net argument inject_copies of each net that does not have it, so that copies between the
// devices are inserted when the net is created. Returns the operator types that run on the CPU,
// sorted. THROWS if the device is not available.
std::vector<std::string> PlaceNet(NetDef* net, const DeviceOption& device);

// Whether the net, an operator or a net in its arguments names a device other than the CPU.
bool NamesADevice(const NetDef& net);

// Sets the net argument inject_copies as PlaceNet does, and leaves all operators on the devices
// that they name. The inputs of the net may then be on other devices.
void RequestDeviceCopies(NetDef* net);

// Moves operators that name an available device without an implementation of them to the CPU, also
// in nets in arguments. Returns their types, sorted. Operators without an implementation for the
// CPU stay, because the error of creating them names their own device.
std::vector<std::string> MoveUnsupportedToCPU(NetDef* net);

// The device on which the first operator that lists the blob as an input reads it; nullopt if none
// lists it.
std::optional<DeviceOption> DeviceOfFirstReader(const NetDef& net, const std::string& blob);

// Moves a blob from the CPU to a device. Does nothing if the device is the CPU or if the blob is
// not a tensor on the CPU.
void MoveBlobToDevice(const std::string& blob, const DeviceOption& device, Workspace* ws);

// Parses "NAME" or "NAME:ID". NAME is the lower-case name, or an alias, of a device that has a
// descriptor (device_descriptor.h). The default ID is 0. Returns false and sets nothing if NAME is
// unknown. THROWS if ID is not a number of at most five digits.
bool ParseDevice(const std::string& text, DeviceOption* device);

}  // namespace caffe2rt
#pragma GCC visibility pop
