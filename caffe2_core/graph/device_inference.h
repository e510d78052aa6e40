#pragma once
// Where operators want their inputs and make their outputs.

#include <compare>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// A device as far as blobs are concerned: all CPUs are one, and a device without an id is the
// first.
struct DevicePlace {
  int type = 0;
  int id = 0;
  auto operator<=>(const DevicePlace&) const = default;
};
DevicePlace PlaceOf(const DeviceOption& option);
// "CPU", "COUNTING 1".
std::string PlaceName(const DevicePlace& place);

// The devices of the inputs and of the outputs, in order: what the schema's device inference says,
// or all on the operator's device. CopyFromCPUInput and a device's own copy from the CPU
// (CopyCPUToGPU) read the CPU; EnsureCPUOutput and a device's own copy to the CPU (CopyGPUToCPU)
// write it. `op` carries its device option, the net's merged in. THROWS when an
// inference gives another number of devices than the operator has blobs.
std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> InferOpInputOutputDevice(
    const OperatorDef& op);

// For schemas: these inputs and outputs are on the CPU, the others on the operator's device.
OpSchema::DeviceInference OnCPU(std::set<int> inputs, std::set<int> outputs);

}  // namespace caffe2rt
