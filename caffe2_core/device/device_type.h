#pragma once
// Device types. The numbers 0 to 15 are Caffe2's; 16 to 31 are for users' devices.

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// An unscoped enum that converts to int, because sources written for Caffe2 use all of CPU,
// DeviceType::CPU and set_device_type(CPU).
enum DeviceType : int32_t {
  CPU = 0,
  CUDA = 1,
  MKLDNN = 2,
  OPENGL = 3,
  OPENCL = 4,
  IDEEP = 5,
  HIP = 6,
  FPGA = 7,
  MSNPU = 8,
  XLA = 9,
  MLC = 10,
};

// The size of every table that is indexed by device type.
inline constexpr int kMaxDeviceTypes = 32;
inline constexpr int kFirstUserDeviceType = 16;

inline constexpr bool IsValidDeviceType(int64_t type) {
  return type >= 0 && type < kMaxDeviceTypes;
}

// Converts a number from a file to a DeviceType. THROWS if it is not in 0 to 31, naming the number.
DeviceType CheckedDeviceType(int64_t type);

// Caffe2's name of a device type; null if Caffe2 does not define the type.
const char* Caffe2DeviceName(DeviceType type);

// The name for messages: that of the registered context, of the descriptor, or Caffe2's, in this
// order. An unknown type is named "device type 17".
std::string DeviceTypeName(int64_t type);

}  // namespace caffe2rt
#pragma GCC visibility pop
