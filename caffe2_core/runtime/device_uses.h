#pragma once
// Memory of one device that another one's stream uses: its context is told, so that the memory is
// not given out again before that work is over, whoever frees it (BaseStaticContext::RecordUse).
//
// Only nets with operators on several devices besides the CPU have anything to tell. What operators
// of the same stream made is at home there and costs nothing.

#include <cstddef>
#include <memory>
#include <vector>

#include "caffe2_core/device/context.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class DeviceUses {
 public:
  // `operators` in the order in which they run; they must outlive this object.
  explicit DeviceUses(const std::vector<OperatorBase*>& operators);
  DeviceUses(const DeviceUses&) = delete;
  DeviceUses& operator=(const DeviceUses&) = delete;

  bool empty() const { return inputs_.empty(); }
  // Before the first Record of a run: finds the streams of the calling thread.
  void BeginRun();
  // After operator `position` was started, on stream 0.
  void Record(size_t position) const;

 private:
  struct Inputs {
    const BaseContext* user = nullptr;
    std::vector<const Blob*> blobs;  // not made by the user's stream
  };
  std::vector<std::unique_ptr<BaseContext>> contexts_;  // one for each device
  std::vector<Inputs> inputs_;                          // by position; empty: nothing to tell
};

}  // namespace caffe2rt
