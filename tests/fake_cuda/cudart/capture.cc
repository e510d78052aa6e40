// Stream capture: calls on a capturing stream become nodes of a graph.

#include <algorithm>

#include "cudart/graph.h"
#include "cudart/world.h"

namespace fakecuda {
namespace {

// The nodes that `nodes` depend on, directly or not, and `nodes` themselves.
std::vector<bool> Ancestors(const Graph& graph, const std::vector<size_t>& nodes) {
  std::vector<bool> reached(graph.nodes.size(), false);
  for (const size_t node : nodes) reached[node] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (const size_t before : graph.nodes[i].after) reached[before] = true;
  }
  return reached;
}

// Whether the origin stream depends on all captured work, as EndCapture requires.
bool AllJoined(const Capture& capture) {
  const std::vector<bool> reached = Ancestors(*capture.graph, capture.origin->capture_tail);
  for (const StreamP& stream : capture.streams) {
    for (const size_t node : stream->capture_tail) {
      if (!reached[node]) return false;
    }
  }
  return true;
}

// Detaches all streams from the capture.
void EndOf(const std::shared_ptr<Capture>& capture) {
  for (const StreamP& stream : capture->streams) {
    stream->capture.reset();
    stream->capture_tail.clear();
  }
  std::erase(TheWorld().captures, capture);
}

// Whether the capture forbids unsafe calls in the calling thread. A relaxed capture or thread
// forbids nothing; otherwise a thread-local capture forbids them in its own thread, a global one
// in every thread whose mode is global.
bool Forbids(const Capture& capture) {
  const cudaStreamCaptureMode mine = Me().capture_mode;
  if (mine == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed) {
    return false;
  }
  if (capture.thread == std::this_thread::get_id()) return true;
  return mine == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
}

}  // namespace

cudaError_t CaptureWork(Stream& stream, Work work) {
  Capture& capture = *stream.capture;
  if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
  capture.graph->nodes.push_back({std::move(work), stream.device, stream.capture_tail});
  stream.capture_tail = {capture.graph->nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t JoinCapture(const StreamP& stream, const std::shared_ptr<Capture>& capture,
                        const std::vector<size_t>& nodes) {
  if (stream->capture && stream->capture != capture) {
    stream->capture->invalid = capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream->legacy) {
    capture->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (!stream->capture) {
    stream->capture = capture;
    capture->streams.push_back(stream);
  }
  for (const size_t node : nodes) {
    auto& tail = stream->capture_tail;
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  }
  return cudaSuccess;
}

cudaError_t ForbidImplicitDependency(int device) {
  bool found = false;
  for (const auto& capture : TheWorld().captures) {
    for (const StreamP& stream : capture->streams) {
      if (stream->device != device || !stream->blocking()) continue;
      capture->invalid = found = true;
    }
  }
  return found ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t ForbidInCapture() {
  bool found = false;
  for (const auto& capture : TheWorld().captures) {
    if (Forbids(*capture)) capture->invalid = found = true;
  }
  return found ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

void LeaveCapture(const StreamP& stream) {
  if (!stream->capture) return;
  const std::shared_ptr<Capture> capture = stream->capture;
  capture->invalid = true;
  if (capture->origin == stream) {
    EndOf(capture);
    return;
  }
  stream->capture.reset();
  stream->capture_tail.clear();
  std::erase(capture->streams, stream);
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  FAKECUDA_CALL(kPlain);
  if (mode > cudaStreamCaptureModeRelaxed) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (stream->legacy) return call.Return(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return call.Return(cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->id = TheWorld().next_id++;
  capture->origin = stream;
  capture->streams.push_back(stream);
  stream->capture = capture;
  TheWorld().captures.push_back(capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  FAKECUDA_CALL(kPlain);
  if (graph == nullptr) return call.Return(cudaErrorInvalidValue);
  *graph = nullptr;
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return call.Return(cudaErrorIllegalState);
  if (capture->origin != stream) {
    capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return call.Return(cudaErrorStreamCaptureWrongThread);
  }
  const bool invalid = capture->invalid;
  const bool joined = AllJoined(*capture);
  EndOf(capture);
  if (invalid) return call.Return(cudaErrorStreamCaptureInvalidated);
  if (!joined) return call.Return(cudaErrorStreamCaptureUnjoined);
  *graph = static_cast<cudaGraph_t>(TheWorld().graphs.Add(capture->graph));
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  FAKECUDA_CALL(kPlain);
  if (status == nullptr) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

// `graph` and `dependencies` remain null: the fake's nodes have no handles before EndCapture.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  FAKECUDA_CALL(kPlain);
  if (status == nullptr) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  if (id != nullptr) *id = stream->capture ? stream->capture->id : 0;
  if (graph != nullptr) *graph = nullptr;
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  FAKECUDA_CALL(kPlain);
  if (mode == nullptr || *mode > cudaStreamCaptureModeRelaxed) {
    return call.Return(cudaErrorInvalidValue);
  }
  std::swap(*mode, Me().capture_mode);
  return cudaSuccess;
}

}  // extern "C"
