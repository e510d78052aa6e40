#pragma once
// Device types: Caffe2's numbers 0 to 15, and 16 to 31 for users.

#include <cstdint>
#include <string>

namespace caffe2rt {

// Unscoped and convertible to int, as sources written for Caffe2 use it both ways (CPU,
// DeviceType::CPU, set_device_type(CPU)).
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

// Rows of every table indexed by device type.
inline constexpr int kMaxDeviceTypes = 32;
inline constexpr int kFirstUserDeviceType = 16;

inline constexpr bool IsValidDeviceType(int64_t type) {
  return type >= 0 && type < kMaxDeviceTypes;
}

// `type` from a file as a DeviceType. THROWS for a number outside 0 to 31, naming it.
DeviceType CheckedDeviceType(int64_t type);

// The name that Caffe2 gave a type; null for one of a user.
const char* Caffe2DeviceName(DeviceType type);

// "CPU", ...; for user devices the name of the registered context or of the descriptor; "device
// type 17" when nothing is known.
std::string DeviceTypeName(int64_t type);

}  // namespace caffe2rt
