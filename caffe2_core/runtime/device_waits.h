#pragma once
// Where an executor has to wait for devices.
//
// Operators whose work outlasts Enqueue leave it in a stream of their device, where the next
// operators of the same stream follow in order. Whoever else touches a blob of such work, the CPU
// or another stream, must find it finished; and so must the caller at the end of the net.
// Everything else goes on without a wait.

#include <cstddef>
#include <string>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// Work in one stream since the last wait for it. Finishing `last` finishes all of it.
struct DeviceWork {
  OperatorBase* last = nullptr;
  size_t first_position = 0;  // of the operator that began it, in the net
  size_t last_position = 0;
};

struct DeviceWaits {
  // By place in the order, the work to finish before the operator there starts; empty: never any.
  std::vector<std::vector<DeviceWork>> before;
  std::vector<DeviceWork> at_end;

  bool AreBefore(size_t place) const { return !before.empty() && !before[place].empty(); }
};

// `operators` by position, `dependencies` theirs by the blobs that they are bound to. A blob counts
// as touched by who has it as input, output or control input. Operators of the CPU with an
// asynchronous part have no common stream: each is work of its own. THROWS when `order` breaks a
// dependency.
DeviceWaits PlanDeviceWaits(const std::vector<OperatorBase*>& operators,
                            const NetDependencies& dependencies, const ExecutionOrder& order);

// Waits for all of it. THROWS the first error, with a frame that names the operators.
void FinishDeviceWork(const std::vector<DeviceWork>& work);

// A device that has failed refuses the next operator, which is not to blame then: a frame that
// names the work that was under way when the operator at `place` failed. "": none.
std::string WorkUnderWay(const std::vector<OperatorBase*>& operators, const ExecutionOrder& order,
                         const DeviceWaits& waits, size_t place);

}  // namespace caffe2rt
