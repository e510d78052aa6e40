#pragma once
// Moves a net that was written for one device to another device.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Assigns `device` to each operator of the net, and of nets in arguments, that has an
// implementation for it. The other operators run on the CPU. Operators that already name a device
// other than the CPU keep it. Sets the net argument inject_copies of each net that does not have it,
// so that copies between the devices are inserted when the net is created. Returns the operator types that
// stay on the CPU, sorted. THROWS if the device is not available.
std::vector<std::string> PlaceNet(NetDef* net, const DeviceOption& device);

// Parses "NAME" or "NAME:ID". NAME is the lower-case name, or an alias, of a device that has a
// descriptor (device_descriptor.h). The default ID is 0. Returns false and sets nothing if NAME is
// unknown. THROWS if ID is not a number of at most five digits.
bool ParseDevice(const std::string& text, DeviceOption* device);

}  // namespace caffe2rt
#pragma GCC visibility pop
