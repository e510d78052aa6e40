#pragma once
// Caffe2's protobuf messages, and conversion of device types between protos and enums.
#include <sstream>

#include "c10/core/Device.h"
#include "c10/core/DeviceType.h"
#include "caffe2/proto/caffe2.pb.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2 {

// THROWS if the number is not a device type.
inline DeviceType ProtoToType(int32_t type) { return ::caffe2rt::CheckedDeviceType(type); }
inline DeviceType ProtoToType(DeviceTypeProto type) {
  return ProtoToType(static_cast<int32_t>(type));
}
inline DeviceTypeProto TypeToProto(const DeviceType& type) {
  CAFFE_ENFORCE(DeviceTypeProto_IsValid(type), "device type ", static_cast<int>(type),
                " has no number in DeviceTypeProto");
  return static_cast<DeviceTypeProto>(type);
}
inline DeviceOption DeviceToOption(DeviceType type) {
  DeviceOption option;
  option.set_device_type(type);
  return option;
}
// The device of an option. A device on the CPU has no index.
inline ::c10::Device OptionToDevice(const DeviceOption& option) {
  const DeviceType type = ProtoToType(option.device_type());
  return {type, static_cast<::c10::DeviceIndex>(type == ::caffe2rt::CPU ? -1 : option.device_id())};
}
inline DeviceOption DeviceToOption(const ::c10::Device& device) {
  DeviceOption option;
  option.set_device_type(device.type());
  if (device.has_index()) option.set_device_id(device.index());
  return option;
}

}  // namespace caffe2
