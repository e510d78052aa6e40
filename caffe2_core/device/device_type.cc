#include "caffe2_core/device/device_type.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

DeviceType CheckedDeviceType(int64_t type) {
  CAFFE_ENFORCE(IsValidDeviceType(type), "device type ", type, " is not known, want 0 (CPU) to ",
                kMaxDeviceTypes - 1);
  return static_cast<DeviceType>(type);
}

}  // namespace caffe2rt
