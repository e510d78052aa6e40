#pragma once
// InOrderRun: runs the operators of a net in a fixed order on the calling thread. It waits for
// devices only where an operator needs finished work (device_waits.h), and at the end. Nets that run
// on one thread share it.

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "caffe2_core/executors/device_uses.h"
#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/executors/graph_runs.h"
#include "caffe2_core/executors/replaced_memory.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {

class InOrderRun {
 public:
  // The references must outlive this object. A run ends when `cancelled` becomes true. `order` is that
  // of the net, or, for nets with operators that have an asynchronous part, another one.
  InOrderRun(const NetDef& def, NetOperators& operators, std::atomic<bool>& cancelled,
             ExecutionOrder order);

  // THROWS what the operators throw, with the frame of the operator that failed.
  void Run();

 private:
  void PlanDevices();
  size_t PlaceOf(size_t position) const;
  void RunAll(size_t* running, bool watch);
  void RunSteps(size_t* running);

  const NetDef& def_;
  NetOperators& operators_;
  std::atomic<bool>& cancelled_;
  const ExecutionOrder order_;
  bool has_steps_ = false;  // whether RunSteps is needed
  bool sync_ = false;       // wait after each operator
  DeviceWaits waits_;
  std::unique_ptr<DeviceUses> uses_;   // null if the net uses at most one device besides the CPU
  std::unique_ptr<GraphRuns> graphs_;  // null if no operator can be captured
  std::unique_ptr<ReplacedMemory> replaced_;  // null if no blob moves to a device
};

}  // namespace caffe2rt
