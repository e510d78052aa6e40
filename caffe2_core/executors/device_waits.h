#pragma once
// DeviceWaits: the positions at which an executor must wait for devices.
//
// A device operator enqueues its work on a stream and returns. Later operators on the same stream
// need no wait, because a stream runs its work in order. Before an operator uses a blob of
// unfinished work of another stream, its own stream waits for that stream, by an event, if both are
// of the same device type; the host does not wait. If the operator is on the CPU or on a device of
// another type, the host waits. The net must wait for all work before it returns to the caller.

#include <cstddef>
#include <string>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// The work on one stream since the last wait for that stream. Finishing `last` finishes all of it.
struct DeviceWork {
  OperatorBase* last = nullptr;
  size_t first_position = 0;  // position in the net of the first operator
  size_t last_position = 0;
  bool on_device = false;  // the stream of the waiting operator waits, not the host
};

// Whether the operator's context can record its event, so that others can wait for it.
bool HasDeviceEvent(const OperatorBase& op);
// Whether the stream of `op` can wait for the event of `last`.
bool WaitsOnDevice(const OperatorBase& last, const OperatorBase& op);
// Records the event of the operator behind the work on its stream, and returns it.
const Event& RecordDeviceEvent(OperatorBase* op);

struct DeviceWaits {
  // The work to finish before an operator starts, by index in the execution order. The outer vector
  // is empty if there are no such waits.
  std::vector<std::vector<DeviceWork>> before;
  std::vector<DeviceWork> at_end;

  bool AreBefore(size_t place) const { return !before.empty() && !before[place].empty(); }
};

// Plans the waits of a net. `operators` are in the order of their positions. `dependencies` are
// those of the blobs that the operators are bound to. An operator uses its inputs, outputs and
// control inputs. Asynchronous CPU operators share no stream; each counts as a stream of its own.
// THROWS if `order` violates a dependency.
DeviceWaits PlanDeviceWaits(const std::vector<OperatorBase*>& operators,
                            const NetDependencies& dependencies, const ExecutionOrder& order);

// Makes the operator, which is about to start on its stream `stream_id`, wait for the work. THROWS
// as FinishDeviceWork.
void AwaitDeviceWork(const std::vector<DeviceWork>& work, OperatorBase* op, int stream_id);

// Makes the host wait for the work. THROWS the first error, with a frame that names the operators.
void FinishDeviceWork(const std::vector<DeviceWork>& work);

// Makes the host wait for the event of the last operator, which has been recorded. Any thread may call
// it. THROWS the error of the device, with a frame that names the operators.
void FinishRecordedWork(const DeviceWork& work);

// Returns an error frame for the operator at index `place` of the order, which has failed. The
// frame names the work that was unfinished on the same device at that time, or is "" if there was
// none. A failed device rejects all later operators, so the unfinished work may be the real cause.
std::string WorkUnderWay(const std::vector<OperatorBase*>& operators, const ExecutionOrder& order,
                         const DeviceWaits& waits, size_t place);

}  // namespace caffe2rt
