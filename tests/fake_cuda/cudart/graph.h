#pragma once

// Stream captures and graphs.

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <vector>

#include "cudart/stream.h"

namespace fakecuda {

struct Node {
  Work work;
  int device = 0;
  std::vector<size_t> after;  // the nodes it depends on, all with lower numbers
};

struct Graph {
  std::vector<Node> nodes;
};

// One capture, from BeginCapture to EndCapture, including all streams that joined it by events.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long id = 0;
  StreamP origin;
  std::vector<StreamP> streams;  // including `origin`
  bool invalid = false;
};

// A graph that can be launched. Nodes are distributed over lanes, which are streams: a node shares
// the lane of a node it depends on where possible. Lanes run concurrently, so that ThreadSanitizer
// detects branches that CUDA does not order. Lane 0 is the stream of the launch; the graph owns the
// streams of the other lanes.
struct GraphExec {
  std::vector<Node> nodes;
  std::vector<size_t> lane_of;  // by node
  std::vector<StreamP> lanes;   // [0] is created only if the launching stream has another device
  std::vector<int> lane_device;
  unsigned long long flags = 0;
  OpP last_launch;  // launches of one graph do not overlap
};

// All functions REQUIRE the world's mutex.

// Adds a node after the stream's captured work.
cudaError_t CaptureWork(Stream& stream, Work work);
// Makes the stream wait for nodes of a capture. A stream that does not capture yet joins it.
cudaError_t JoinCapture(const StreamP& stream, const std::shared_ptr<Capture>& capture,
                        const std::vector<size_t>& nodes);
// Rejects use of the legacy stream while a blocking stream of its device captures, and invalidates
// those captures.
cudaError_t ForbidImplicitDependency(int device);
// Removes the stream from its capture, which becomes invalid.
void LeaveCapture(const StreamP& stream);

}  // namespace fakecuda
