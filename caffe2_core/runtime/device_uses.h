#pragma once
// Memory of one stream that another one uses: the context that it came from is told, so that the
// memory is not given out again before that work is over, whoever frees it
// (BaseStaticContext::RecordUse).
//
// Only nets with operators on several streams, of one device or of several besides the CPU, have
// anything to tell. What operators of the same stream made is at home there and costs nothing.

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
  // `operators` by position, which must outlive this object, `dependencies` theirs by the blobs
  // that they are bound to.
  DeviceUses(const std::vector<OperatorBase*>& operators, const NetDependencies& dependencies,
             const ExecutionOrder& order);
  DeviceUses(const DeviceUses&) = delete;
  DeviceUses& operator=(const DeviceUses&) = delete;

  bool empty() const { return inputs_.empty(); }
  // Before the first Record of a run: finds the streams of the calling thread.
  void BeginRun();
  // After operator `position` was started, on the stream that the order gives it.
  void Record(size_t position) const;

 private:
  struct Inputs {
    const BaseContext* user = nullptr;
    std::vector<const Blob*> blobs;  // not made by the user's stream
  };
  std::vector<std::pair<std::unique_ptr<BaseContext>, int>> contexts_;  // one for each stream
  std::vector<Inputs> inputs_;  // by position; empty: nothing to tell
};

}  // namespace caffe2rt
