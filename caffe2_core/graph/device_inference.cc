#include "caffe2_core/graph/device_inference.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_type.h"

namespace caffe2rt {
namespace {

using Devices = std::vector<DeviceOption>;

Devices Repeat(const DeviceOption& option, int count) {
  return Devices(static_cast<size_t>(count), option);
}

}  // namespace

DevicePlace PlaceOf(const DeviceOption& option) {
  if (option.device_type() == CPU) return {};
  return {option.device_type(), option.device_id()};
}

std::string PlaceName(const DevicePlace& place) {
  if (place.type == CPU) return DeviceTypeName(CPU);
  return MakeString(DeviceTypeName(place.type), ' ', place.id);
}

std::pair<Devices, Devices> InferOpInputOutputDevice(const OperatorDef& op) {
  const DeviceOption cpu;
  const DeviceOption& own = op.device_option();
  const std::string& type = op.type();
  // Copy operators read and write the same devices whatever their schema declares.
  const DeviceDescriptor* const device = FindDeviceOfCopy(type);
  const bool from_cpu = device != nullptr && type == device->copy_from_cpu;
  if (from_cpu || type == kCopyFromCPUType) {
    return {Repeat(cpu, op.input_size()), Repeat(own, op.output_size())};
  }
  if (device != nullptr || type == kCopyToCPUType) {
    return {Repeat(own, op.input_size()), Repeat(cpu, op.output_size())};
  }
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  if (schema == nullptr) return {Repeat(own, op.input_size()), Repeat(own, op.output_size())};
  std::pair<Devices, Devices> devices = schema->InferDevice(op);
  CAFFE_ENFORCE(devices.first.size() == static_cast<size_t>(op.input_size()) &&
                    devices.second.size() == static_cast<size_t>(op.output_size()),
                "device inference of operator type \"", type, "\" returns ", devices.first.size(),
                " devices for inputs and ", devices.second.size(), " for outputs, want ",
                op.input_size(), " and ", op.output_size());
  return devices;
}

OpSchema::DeviceInference OnCPU(std::set<int> inputs, std::set<int> outputs) {
  return [inputs = std::move(inputs), outputs = std::move(outputs)](const OperatorDef& op) {
    std::pair<Devices, Devices> devices{Repeat(op.device_option(), op.input_size()),
                                        Repeat(op.device_option(), op.output_size())};
    const auto set = [](const std::set<int>& positions, Devices* options) {
      for (const int i : positions) {
        if (static_cast<size_t>(i) < options->size()) (*options)[static_cast<size_t>(i)] = {};
      }
    };
    set(inputs, &devices.first);
    set(outputs, &devices.second);
    return devices;
  };
}

}  // namespace caffe2rt
