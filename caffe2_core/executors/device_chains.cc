#include "caffe2_core/executors/device_chains.h"

#include <algorithm>
#include <map>
#include <utility>

#include "caffe2_core/executors/device_order.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

// Operators without a device id run on the current device, which is not known here.
bool IsOnSameStream(const DeviceWork& work, int stream, const OperatorBase& op, int own_stream) {
  const DeviceOption& a = work.last->device_option();
  const DeviceOption& b = op.device_option();
  return stream == own_stream && IsSameDevice(a, b) && a.has_device_id() == b.has_device_id();
}

}  // namespace

DeviceChains::DeviceChains(const NetOperators& operators, const NetSchedule& schedule,
                           std::span<const uint32_t> devices)
    : operators_(operators.all()), schedule_(schedule), order_(DeviceOrder(schedule, devices)) {
  AddChains(devices);
  AddWaits();
  PlanEnd();
  uses_ = std::make_unique<DeviceUses>(operators_, operators.FindDependencies(), order_);
  if (uses_->empty()) uses_.reset();
  replaced_ = std::make_unique<ReplacedMemory>(operators_);
  if (replaced_->empty()) replaced_.reset();
}

void DeviceChains::AddChains(std::span<const uint32_t> devices) {
  chains_.resize(schedule_.num_chains());
  size_t place = 0;
  for (uint32_t i = 0; i < chains_.size(); ++i) {
    Chain& chain = chains_[i];
    const std::span<const uint32_t> positions = schedule_.operators(i);
    const uint32_t device = devices[positions.front()];
    chain.stream = order_.stream(place);
    place += positions.size();
    if (device == kAnyThread) continue;
    chain.is_of_device = true;
    starts_.push_back(i);
    if (device == kUsesDevices) continue;
    chain.has_stream = true;
    chain.work = {.last = operators_[positions.back()],
                  .first_position = positions.front(),
                  .last_position = positions.back()};
  }
}

void DeviceChains::AddWaits() {
  for (uint32_t i = 0; i < chains_.size(); ++i) {
    Chain& before = chains_[i];
    if (!before.has_stream) continue;
    for (const uint32_t next : schedule_.successors(i)) {
      Chain& after = chains_[next];
      const OperatorBase& first = *operators_[schedule_.operators(next).front()];
      if (after.has_stream && IsOnSameStream(before.work, before.stream, first, after.stream)) {
        continue;
      }
      if (!HasDeviceEvent(*before.work.last)) {
        before.finishes_itself = true;
        continue;
      }
      before.records_event = true;
      after.predecessors.push_back(before.work);
      after.predecessors.back().on_device =
          after.has_stream && WaitsOnDevice(*before.work.last, first);
      after.waits_on_host = after.waits_on_host || !after.predecessors.back().on_device;
    }
  }
}

// The host waits for the last chain of each stream, unless a stream that it waits for has waited for
// that chain.
void DeviceChains::PlanEnd() {
  std::map<std::pair<DevicePlace, int>, uint32_t> lasts;
  std::map<std::pair<DevicePlace, int>, size_t> firsts;  // positions
  for (uint32_t i = 0; i < chains_.size(); ++i) {
    if (!chains_[i].has_stream) continue;
    const std::pair stream(PlaceOf(chains_[i].work.last->device_option()), chains_[i].stream);
    lasts[stream] = i;
    firsts.try_emplace(stream, chains_[i].work.first_position);
  }
  for (const auto& [stream, last] : lasts) {
    const DeviceOption& device = chains_[last].work.last->device_option();
    const std::span<const uint32_t> next = schedule_.successors(last);
    const bool is_awaited = std::any_of(next.begin(), next.end(), [&](uint32_t chain) {
      return chains_[chain].has_stream &&
             IsSameDevice(chains_[chain].work.last->device_option(), device);
    });
    if (is_awaited) continue;
    at_end_.push_back(chains_[last].work);
    at_end_.back().first_position = firsts.at(stream);
  }
}

void DeviceChains::BeginRun() {
  if (uses_ != nullptr) uses_->BeginRun();
  if (replaced_ != nullptr) replaced_->Free();  // of a run that failed
}

void DeviceChains::Begin(uint32_t chain) {
  if (chain == starts_.front()) BeginRun();
  if (chains_[chain].predecessors.empty()) return;
  OperatorBase* const first = operators_[schedule_.operators(chain).front()];
  for (const DeviceWork& work : chains_[chain].predecessors) {
    if (work.on_device) {
      first->WaitEvent(work.last->event(), stream(chain));
    } else {
      FinishRecordedWork(work);
    }
  }
}

void DeviceChains::End(uint32_t chain) const {
  const Chain& ended = chains_[chain];
  if (ended.finishes_itself) FinishDeviceWork({ended.work});
  if (ended.records_event) RecordDeviceEvent(ended.work.last);
}

std::string DeviceChains::WorkUnderWay(size_t position) const {
  const auto found = std::find(order_.positions.begin(), order_.positions.end(), position);
  return caffe2rt::WorkUnderWay(operators_, order_, {},
                                static_cast<size_t>(found - order_.positions.begin()));
}

}  // namespace caffe2rt
