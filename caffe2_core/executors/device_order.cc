#include "caffe2_core/executors/device_order.h"

#include <algorithm>
#include <map>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

// Operators on IDEEP run on the CPU, and end when they return.
bool IsOfDevice(const DeviceOption& option) {
  return option.device_type() != CPU && option.device_type() != IDEEP;
}

// Whether the operator, or one in the nets in its arguments, is of a device.
bool UsesDevices(const OperatorDef& op, int depth);

bool NetUsesDevices(const NetDef& net, int depth) {
  return IsOfDevice(net.device_option()) ||
         std::any_of(net.op().begin(), net.op().end(),
                     [depth](const OperatorDef& op) { return UsesDevices(op, depth); });
}

bool UsesDevices(const OperatorDef& op, int depth) {
  if (IsOfDevice(op.device_option())) return true;
  if (depth > kMaxNetDepth) return false;
  return std::any_of(op.arg().begin(), op.arg().end(), [depth](const Argument& arg) {
    return (arg.has_n() && NetUsesDevices(arg.n(), depth + 1)) ||
           std::any_of(arg.nets().begin(), arg.nets().end(),
                       [depth](const NetDef& net) { return NetUsesDevices(net, depth + 1); });
  });
}

}  // namespace

std::vector<uint32_t> DevicesOf(const NetOperators& operators) {
  std::map<DevicePlace, uint32_t> numbers;
  std::vector<uint32_t> devices;
  bool any = false;
  for (const OperatorBase* op : operators.all()) {
    uint32_t device = kAnyThread;
    if (op->HasAsyncPart() && op->device_option().device_type() != CPU) {
      const auto next = static_cast<uint32_t>(numbers.size() + 1);
      device = numbers.try_emplace(PlaceOf(op->device_option()), next).first->second;
    } else if (UsesDevices(op->debug_def(), 0)) {
      device = kUsesDevices;
    }
    any = any || device != kAnyThread;
    devices.push_back(device);
  }
  if (!any) devices.clear();
  return devices;
}

ExecutionOrder DeviceOrder(const NetSchedule& schedule, std::span<const uint32_t> devices) {
  constexpr int kNoStream = -1;
  std::vector<int> inherited(schedule.num_chains(), kNoStream);  // from a predecessor, by chain
  std::map<uint32_t, int> next_streams;                          // by device
  ExecutionOrder order;
  for (size_t chain = 0; chain < schedule.num_chains(); ++chain) {
    const uint32_t device = devices[schedule.operators(chain).front()];
    const bool has_stream = device != kAnyThread && device != kUsesDevices;
    int stream = inherited[chain];
    if (stream == kNoStream) stream = has_stream ? next_streams[device]++ % kMostDeviceStreams : 0;
    for (const uint32_t position : schedule.operators(chain)) {
      order.positions.push_back(position);
      order.streams.push_back(stream);
    }
    if (!has_stream) continue;
    for (const uint32_t next : schedule.successors(chain)) {
      if (devices[schedule.operators(next).front()] != device || inherited[next] != kNoStream) {
        continue;
      }
      inherited[next] = stream;
      break;
    }
  }
  return order;
}

}  // namespace caffe2rt
