#include "caffe2_core/executors/device_order.h"

#include <map>
#include <vector>

namespace caffe2rt {

ExecutionOrder DeviceOrder(const NetSchedule& schedule, std::span<const uint32_t> devices) {
  constexpr int kNoStream = -1;
  std::vector<int> inherited(schedule.num_chains(), kNoStream);  // from a predecessor, by chain
  std::map<uint32_t, int> next_streams;                          // by device
  ExecutionOrder order;
  for (size_t chain = 0; chain < schedule.num_chains(); ++chain) {
    const uint32_t device = devices[schedule.operators(chain).front()];
    int stream = inherited[chain];
    if (stream == kNoStream) stream = device == 0 ? 0 : next_streams[device]++ % kMostDeviceStreams;
    for (const uint32_t position : schedule.operators(chain)) {
      order.positions.push_back(position);
      order.streams.push_back(stream);
    }
    if (device == 0) continue;
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
