// The device with number HOST_DEVICE_NUMBER as a module with entry point HOST_DEVICE_ENTRY.
#include "tests/caffe2_core/device/host_device.h"

extern "C" __attribute__((visibility("default"))) const caffe2rt::DeviceModule*
HOST_DEVICE_ENTRY() {
  return caffe2rt::test::HostModule<HOST_DEVICE_NUMBER>();
}
