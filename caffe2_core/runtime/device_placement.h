#pragma once
// Nets that were written for one device, run on another.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Puts the operators of a net, and of nets in its arguments, on `device` where they have a form
// there, and the others on the CPU. Those that name a device other than the CPU keep it. Returns
// the types that stay on the CPU, sorted. Copies are put where devices meet when the net is made
// (net argument inject_copies, unless the net sets it). THROWS when the device is not here.
std::vector<std::string> PlaceNet(NetDef* net, const DeviceOption& device);

// "NAME" or "NAME:1" with the name of a device that has a descriptor (device_descriptor.h), in
// lower case, or one of its aliases. False, and nothing is set, when the text begins with no such
// name. THROWS when what follows is not a number.
bool ParseDevice(const std::string& text, DeviceOption* device);

}  // namespace caffe2rt
