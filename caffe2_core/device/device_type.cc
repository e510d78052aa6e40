#include "caffe2_core/device/device_type.h"

#include <iterator>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

const char* Caffe2DeviceName(DeviceType type) {
  static constexpr const char* kNames[] = {"CPU", "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP",
                                           "HIP", "FPGA", "MSNPU",  "XLA",    "MLC"};
  const auto row = static_cast<size_t>(type);
  return row < std::size(kNames) ? kNames[row] : nullptr;
}

DeviceType CheckedDeviceType(int64_t type) {
  CAFFE_ENFORCE(IsValidDeviceType(type), "device type ", type, " is not known, want 0 (CPU) to ",
                kMaxDeviceTypes - 1);
  return static_cast<DeviceType>(type);
}

}  // namespace caffe2rt
