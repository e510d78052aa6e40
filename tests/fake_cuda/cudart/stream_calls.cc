// CUDA's stream functions.

#include <algorithm>

#include "cudart/graph.h"
#include "cudart/world.h"

using namespace fakecuda;

namespace {

constexpr int kGreatestPriority = -5;

cudaError_t Create(Call& call, cudaStream_t* handle, unsigned flags, int priority) {
  if (handle == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
    return call.Return(cudaErrorInvalidValue);
  }
  const StreamP stream = MakeStream(Me().device, flags, std::clamp(priority, kGreatestPriority, 0));
  *handle = static_cast<cudaStream_t>(TheWorld().streams.Add(stream));
  return cudaSuccess;
}

// Runs a host function in stream order. The function must not make CUDA calls.
void RunOnHost(const std::function<void()>& function) {
  SetInOperation(true);
  {
    Shown shown;
    function();
  }
  SetInOperation(false);
}

bool IsDone(const OpP& op) {
  if (op && !op->done) return false;
  if (op) Acquire(&op->finish);
  return true;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  FAKECUDA_CALL(kPlain);
  return Create(call, stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  return Create(call, stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  FAKECUDA_CALL(kPlain);
  return Create(call, stream, flags, priority);
}

// Returns at once. The work in the stream continues.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  FAKECUDA_CALL(kIgnoresSticky);
  const StreamP* found = TheWorld().streams.Find(handle);
  if (found == nullptr) return call.Return(cudaErrorInvalidResourceHandle);
  const StreamP stream = *found;
  LeaveCapture(stream);
  TheWorld().streams.Remove(handle);
  Close(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream || flags == nullptr) return call.Return(cudaErrorInvalidValue);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream || priority == nullptr) return call.Return(cudaErrorInvalidValue);
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream || id == nullptr) return call.Return(cudaErrorInvalidValue);
  *id = stream->id;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream || device == nullptr) return call.Return(cudaErrorInvalidValue);
  *device = stream->device;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t forbidden = ForbidInCapture();
  if (forbidden != cudaSuccess) return call.Return(forbidden);
  if (stream->legacy) OrderWithLegacy(stream);
  return call.WaitFor({stream->last}, stream->device);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t forbidden = ForbidInCapture();
  if (forbidden != cudaSuccess) return call.Return(forbidden);
  if (!IsDone(stream->last)) return call.Return(cudaErrorNotReady);
  if (stream->legacy) {  // represents all blocking streams
    for (const StreamP& other : CurrentDevice().streams) {
      if (other->blocking() && !IsDone(other->last)) return call.Return(cudaErrorNotReady);
    }
  }
  return call.Return(TheWorld().devices[static_cast<size_t>(stream->device)]->sticky);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* state) {
  FAKECUDA_CALL(kPlain);
  if (function == nullptr) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  Work work{.name = "host function", .type = cudaGraphNodeTypeHost};
  work.run = [function, state] {
    RunOnHost([=] { function(state); });
    return cudaSuccess;
  };
  return call.Return(Submit(stream, std::move(work)));
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* state,
                                  unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (callback == nullptr || flags != 0) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  Work work{.name = "callback", .type = cudaGraphNodeTypeHost};
  work.run = [callback, handle, state] {
    RunOnHost([=] { callback(handle, cudaSuccess, state); });
    return cudaSuccess;
  };
  return call.Return(Submit(stream, std::move(work)));
}

}  // extern "C"
