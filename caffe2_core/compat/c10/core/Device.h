#pragma once
// A device: its type and its index.
#include "c10/core/DeviceType.h"
#include "caffe2_core/base/language.h"

namespace c10 {
using DeviceIndex = int16_t;
struct Device {
  Device(DeviceType type, DeviceIndex index = -1)
      : type_(type), index_(index) {}  // NOLINT: converts
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ != -1; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool operator==(const Device& other) const = default;

 private:
  DeviceType type_;
  DeviceIndex index_;
};
}  // namespace c10

namespace at {
using ::c10::Device;
using ::c10::DeviceIndex;
}  // namespace at
