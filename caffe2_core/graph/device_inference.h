#pragma once
// The devices on which operators expect their inputs and write their outputs.

#include <compare>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The types of the copies that work on every device: from the operator's device to itself, from the
// CPU to it, and from it to the CPU. A device may have types of its own for the last two
// (DeviceDescriptor).
inline constexpr char kCopyType[] = "Copy";
inline constexpr char kCopyFromCPUType[] = "CopyFromCPUInput";
inline constexpr char kCopyToCPUType[] = "EnsureCPUOutput";

// The device of a blob. All CPU device options are the same place, and a device option without an
// id means device 0 of its type.
struct DevicePlace {
  int type = 0;
  int id = 0;
  auto operator<=>(const DevicePlace&) const = default;
};
DevicePlace PlaceOf(const DeviceOption& option);
// For messages: "CPU", "COUNTING 1".
std::string PlaceName(const DevicePlace& place);

// The devices of the inputs and of the outputs, in order. They come from the device inference of
// the schema; by default all are on the operator's device. CopyFromCPUInput and a device's own
// copy from the CPU (CopyCPUToGPU) read from the CPU; EnsureCPUOutput and a device's own copy to
// the CPU (CopyGPUToCPU) write to the CPU.
// REQUIRES: the device option of the net has been merged into that of `op`.
// THROWS if the schema returns a number of devices that differs from the number of inputs or
// outputs.
std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> InferOpInputOutputDevice(
    const OperatorDef& op);

// A device inference function for schemas: the inputs and outputs at these positions are on the
// CPU, all others on the operator's device.
OpSchema::DeviceInference OnCPU(std::set<int> inputs, std::set<int> outputs);

}  // namespace caffe2rt
#pragma GCC visibility pop
