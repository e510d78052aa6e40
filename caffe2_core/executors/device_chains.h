#pragma once
// DeviceChains: the chains of a net on devices, for nets whose chains on the CPU run on several threads
// (chain_runner.h).
//
// One thread, the starting thread, starts the chains of devices in a fixed order, each on its stream
// (device_order.h). The last operator of a chain records its event if a chain on another stream or on
// the CPU follows. A chain of a device waits for the events of its predecessors on its stream, if they
// are of its type. Otherwise the thread that runs the chain waits. So a chain that any thread may run
// may begin when its predecessors on devices have started, and may have to wait then.
//
// As every edge of the schedule is a wait, the end of a chain means the end of all its predecessors.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "caffe2_core/executors/device_uses.h"
#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/executors/net_schedule.h"
#include "caffe2_core/executors/replaced_memory.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {

// Functions that take a chain may be called by the thread that runs the chain, those without one by
// one thread at a time.
class DeviceChains {
 public:
  // `devices` are those of DevicesOf. The operators must outlive this object.
  DeviceChains(const NetOperators& operators, const NetSchedule& schedule,
               std::span<const uint32_t> devices);
  DeviceChains(const DeviceChains&) = delete;
  DeviceChains& operator=(const DeviceChains&) = delete;

  // Whether only the starting thread may run the chain.
  bool is_of_device(uint32_t chain) const { return chains_[chain].is_of_device; }
  // These chains, in the order in which they start.
  const std::vector<uint32_t>& order() const { return starts_; }
  // Whether the thread that runs the chain waits for work of devices first.
  bool WaitsOnHost(uint32_t chain) const { return chains_[chain].waits_on_host; }
  int stream(uint32_t chain) const { return chains_[chain].stream; }

  // Call these before the first operator of a chain, before and after each operator, and after the last
  // one.
  // THROW errors of the device's work, with a frame that names it.
  void Begin(uint32_t chain);
  void BeforeOperator(size_t position) {
    if (replaced_ != nullptr) replaced_->Keep(position);
  }
  void AfterOperator(size_t position) const {
    if (uses_ != nullptr) uses_->Record(position);
  }
  void End(uint32_t chain) const;
  // Waits for all devices, after the last chain. THROWS as FinishDeviceWork.
  void FinishRun() const {
    FinishDeviceWork(at_end_);
    if (replaced_ != nullptr) replaced_->Free();
  }
  // See device_waits.h.
  std::string WorkUnderWay(size_t position) const;

 private:
  struct Chain {
    bool is_of_device = false;
    bool waits_on_host = false;
    bool has_stream = false;       // leaves work on a stream
    bool records_event = false;    // its last operator
    bool finishes_itself = false;  // has followers that cannot wait for an event
    int stream = 0;
    DeviceWork work;                       // of a chain with a stream
    std::vector<DeviceWork> predecessors;  // to wait for
  };
  void AddChains(std::span<const uint32_t> devices);
  void AddWaits();
  void PlanEnd();
  void BeginRun();

  const std::vector<OperatorBase*>& operators_;
  const NetSchedule& schedule_;
  const ExecutionOrder order_;  // of all operators
  std::vector<Chain> chains_;
  std::vector<uint32_t> starts_;
  std::vector<DeviceWork> at_end_;
  std::unique_ptr<DeviceUses> uses_;          // null if there is nothing to report
  std::unique_ptr<ReplacedMemory> replaced_;  // null if no blob moves to a device
};

}  // namespace caffe2rt
