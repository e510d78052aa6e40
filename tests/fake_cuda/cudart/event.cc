// Events: a position in a stream that other streams and the host can wait for.

#include "cudart/event.h"

#include "cudart/graph.h"

using namespace fakecuda;

namespace {

constexpr unsigned kKnownFlags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

Event* Find(cudaEvent_t handle) {
  const auto* found = TheWorld().events.Find(handle);
  return found == nullptr ? nullptr : found->get();
}

cudaError_t Create(Call& call, cudaEvent_t* handle, unsigned flags) {
  const bool shared_and_timed =
      (flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0;
  if (handle == nullptr || (flags & ~kKnownFlags) != 0 || shared_and_timed) {
    return call.Return(cudaErrorInvalidValue);
  }
  auto event = std::make_shared<Event>();
  event->device = Me().device;
  event->flags = flags;
  *handle = static_cast<cudaEvent_t>(TheWorld().events.Add(std::move(event)));
  return cudaSuccess;
}

cudaError_t Record(Call& call, cudaEvent_t handle, cudaStream_t stream_handle) {
  Event* event = Find(handle);
  const StreamP stream = Resolve(stream_handle);
  if (event == nullptr || !stream || stream->device != event->device) {
    return call.Return(cudaErrorInvalidResourceHandle);
  }
  if (stream->capture) {
    if (stream->capture->invalid) return call.Return(cudaErrorStreamCaptureInvalidated);
    event->capture = stream->capture;
    event->nodes = stream->capture_tail;
    event->recorded = nullptr;
    return cudaSuccess;
  }
  OpP op;
  const cudaError_t error = Submit(stream, {.name = "event record"}, &op);
  if (error != cudaSuccess) return call.Return(error);
  event->capture = nullptr;
  event->nodes.clear();
  event->recorded = op;
  return cudaSuccess;
}

bool IsDone(const Event& event) {
  if (!event.recorded) return true;
  if (!event.recorded->done) return false;
  Acquire(&event.recorded->finish);
  return true;
}

// The error of querying an event that was recorded in a capture, which becomes invalid.
cudaError_t CheckCaptured(const Event& event) {
  if (!event.capture) return cudaSuccess;
  event.capture->invalid = true;
  return cudaErrorCapturedEvent;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  FAKECUDA_CALL(kPlain);
  return Create(call, event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  return Create(call, event, flags);
}

// Threads and streams that already wait for the event continue to wait.
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  FAKECUDA_CALL(kIgnoresSticky);
  if (Find(event) == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  TheWorld().events.Remove(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Record(call, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (flags != cudaEventRecordDefault) return call.Return(cudaErrorInvalidValue);
  return Record(call, event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  FAKECUDA_CALL(kUnsafeInCapture);
  const Event* event = Find(handle);
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  const cudaError_t captured = CheckCaptured(*event);
  if (captured != cudaSuccess) return call.Return(captured);
  if (!IsDone(*event)) return call.Return(cudaErrorNotReady);
  return call.Return(TheWorld().devices[static_cast<size_t>(event->device)]->sticky);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  FAKECUDA_CALL(kUnsafeInCapture);
  const Event* event = Find(handle);
  if (event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  const cudaError_t captured = CheckCaptured(*event);
  if (captured != cudaSuccess) return call.Return(captured);
  return call.WaitFor({event->recorded}, event->device);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  FAKECUDA_CALL(kPlain);
  if (milliseconds == nullptr) return call.Return(cudaErrorInvalidValue);
  const Event* first = Find(start);
  const Event* second = Find(end);
  if (first == nullptr || second == nullptr || first->device != second->device ||
      ((first->flags | second->flags) & cudaEventDisableTiming) != 0 || !first->recorded ||
      !second->recorded) {
    return call.Return(cudaErrorInvalidResourceHandle);
  }
  if (!IsDone(*first) || !IsDone(*second)) return call.Return(cudaErrorNotReady);
  *milliseconds = std::chrono::duration<float, std::milli>(second->recorded->finished -
                                                           first->recorded->finished)
                      .count();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (flags != cudaEventWaitDefault) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  const Event* event = Find(event_handle);
  if (!stream || event == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  if (event->capture) return call.Return(JoinCapture(stream, event->capture, event->nodes));
  if (!event->recorded) return cudaSuccess;
  if (stream->capture) {
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureIsolation);
  }
  if (stream->legacy) OrderWithLegacy(stream);
  PushWait(stream, event->recorded);
  return cudaSuccess;
}

}  // extern "C"
