#pragma once
// Which operators of a net belong to devices, and the order and the streams in which one thread starts
// the chains of a net on devices.
//
// Chains start in the order of the schedule, so that long paths start first. A chain continues the
// stream of a predecessor on its device if no other chain does; otherwise it gets the next stream of
// the device, so that chains that do not depend on each other overlap.

#include <cstdint>
#include <span>
#include <vector>

#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {

// The streams of a device that a net uses. More chains share them.
inline constexpr int kMostDeviceStreams = 8;

// The numbers of an operator that any thread may run, and of one that uses devices, but leaves no work
// on a stream: for example If, whose net waits for its devices.
inline constexpr uint32_t kAnyThread = 0;
inline constexpr uint32_t kUsesDevices = UINT32_MAX;

// The number of each operator's device: equal numbers mean the same device. Empty if there is no
// operator but those of any thread.
std::vector<uint32_t> DevicesOf(const NetOperators& operators);

// `devices` has an entry for each operator. Operators without work on a stream are on stream 0. A
// pure function of its arguments.
ExecutionOrder DeviceOrder(const NetSchedule& schedule, std::span<const uint32_t> devices);

}  // namespace caffe2rt
