#pragma once
// Where a net has to wait for devices.
//
// Operators whose work outlasts Enqueue leave it in their device's stream, where the next operators
// of the same device follow in order. Whoever else touches a blob of such work, the CPU or another
// device, must find it finished; and so must the caller at the end of the net. Everything else goes
// on without a wait.

#include <cstddef>
#include <vector>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Work in the stream of one device since the last wait for it. Finishing `last` finishes all of it.
struct DeviceWork {
  OperatorBase* last = nullptr;
  size_t first_position = 0;
  size_t last_position = 0;
};

// For each operator, in the order in which they run, the work to finish before it starts; after
// them, one more list: the work to finish at the end. Operators of the CPU with an asynchronous
// part have no common stream: each is work of its own.
std::vector<std::vector<DeviceWork>> PlanDeviceWaits(const std::vector<OperatorBase*>& operators);

// Waits for all of it. THROWS the first error, with a frame that names the operators.
void FinishDeviceWork(const std::vector<DeviceWork>& work);

}  // namespace caffe2rt
