#pragma once
// Nets whose operators run at the same time, as their dependencies allow, and `async_simple`, which
// runs in order. The types are rows of policy for this class (net_types.cc).
//
// Threads: those of num_workers, or those of the policy, but at most those of the pool. With
// num_workers, neither the operators nor their loops use more threads. A net without two operators
// that could run at the same time, or with one thread, runs in the order of the net, as `simple`;
// operators that wait for others get threads of their own in any case.
//
// Devices: one thread starts the operators on devices in a fixed order, and independent chains on a
// device use several streams (device_order.h). Chains on the CPU run on the other threads meanwhile
// (device_chains.h).

#include <memory>

#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// The number of threads of a net without num_workers.
enum class NetThreads { kOne, kPool };

struct NetPolicy {
  NetOrder order = NetOrder::kByDependencies;
  NetThreads threads = NetThreads::kPool;
  bool logs_statistics = false;  // when the net is destroyed (run_statistics.h)
};

// Creates the net and all its operators. THROWS if an operator cannot be built.
std::unique_ptr<NetBase> NewScheduledNet(const std::shared_ptr<const NetDef>& def, Workspace* ws,
                                         const NetPolicy& policy);

}  // namespace caffe2rt
