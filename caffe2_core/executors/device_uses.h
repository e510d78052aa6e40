#pragma once
// DeviceUses: reports memory that is used by a stream other than the one it was allocated for.
//
// The report goes to the context that allocated the memory (BaseStaticContext::RecordUse). If the
// memory is freed early, the context does not allocate it again before the other stream's work has
// finished.
//
// Only nets with operators on several device streams need such reports. Memory that an operator of
// the same stream wrote needs no report and costs nothing.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class DeviceUses {
 public:
  // `operators` are in the order of their positions. `dependencies` are those of the blobs that the
  // operators are bound to. REQUIRES: the operators outlive this object.
  DeviceUses(const std::vector<OperatorBase*>& operators, const NetDependencies& dependencies,
             const ExecutionOrder& order);
  DeviceUses(const DeviceUses&) = delete;
  DeviceUses& operator=(const DeviceUses&) = delete;

  // Whether there is nothing to report.
  bool empty() const { return inputs_.empty(); }
  // Selects the calling thread's streams. Call it before the first Record of a run.
  void BeginRun();
  // Reports the inputs of the operator. Call it after the operator was started on the stream that
  // the execution order assigns to it.
  void Record(size_t position) const;

 private:
  struct Inputs {
    const BaseContext* user = nullptr;
    std::vector<const Blob*> blobs;  // those that the user's stream did not write
  };
  std::vector<std::pair<std::unique_ptr<BaseContext>, int>> contexts_;  // one for each stream
  std::vector<Inputs> inputs_;  // by position; empty if there is nothing to report
};

}  // namespace caffe2rt
