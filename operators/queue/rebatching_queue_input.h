#pragma once
// The queue of the operators of rebatching queues.

#include "caffe2_core/runtime/operator.h"
#include "operators/queue/rebatching_queue.h"

namespace caffe2rt {

// The queue in input 0 of an operator. THROWS if it holds none.
inline const RebatchingQueueBlob& RebatchingQueueInput(const OperatorBase& op) {
  const auto& queue = op.Input<RebatchingQueueBlob>(0);
  CAFFE_ENFORCE(queue != nullptr, "input 0 (queue) holds no queue");
  return queue;
}

}  // namespace caffe2rt
