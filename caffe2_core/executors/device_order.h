#pragma once
// DeviceOrder: the order and the streams in which one thread starts the chains of a net on devices.
//
// Chains start in the order of the schedule, so that long paths start first. A chain continues the
// stream of a predecessor on its device if no other chain does; otherwise it gets the next stream of
// the device, so that chains that do not depend on each other overlap.

#include <cstdint>
#include <span>

#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {

// The streams of a device that a net uses. More chains share them.
inline constexpr int kMostDeviceStreams = 8;

// `devices` has an entry for each operator; 0 is the CPU, whose operators are on stream 0. A pure
// function of its arguments.
ExecutionOrder DeviceOrder(const NetSchedule& schedule, std::span<const uint32_t> devices);

}  // namespace caffe2rt
