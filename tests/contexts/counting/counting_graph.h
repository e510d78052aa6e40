#pragma once
// Recorded work of the counting device: kernels, and copies within the device. Copies from and to
// the CPU, events and waits cannot be recorded.

#include <memory>

#include "caffe2_core/device/device_graph.h"
#include "tests/contexts/counting/counting_device.h"

namespace caffe2rt::test {

std::unique_ptr<DeviceGraph> NewCountingGraph(CountingDevice* device);

}  // namespace caffe2rt::test
