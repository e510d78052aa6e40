#pragma once

// Captures and the graphs they make.

#include <cuda_runtime_api.h>

#include <memory>
#include <thread>
#include <vector>

#include "cudart/stream.h"

namespace fakecuda {

struct Node {
  Work work;
  int device = 0;
  std::vector<size_t> after;  // nodes that come before, all with lower numbers
};

struct Graph {
  std::vector<Node> nodes;
};

// One capture, from BeginCapture to EndCapture, over all streams that events have drawn into it.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long id = 0;
  StreamP origin;
  std::vector<StreamP> streams;  // origin among them
  bool invalid = false;
};

// A graph that can be launched. Nodes that depend on each other share a lane where they can; lanes
// run at the same time, so that ThreadSanitizer sees which branches CUDA leaves unordered. The
// first lane is the stream of the launch, the others are streams of the graph.
struct GraphExec {
  std::vector<Node> nodes;
  std::vector<size_t> lane_of;  // by node
  std::vector<StreamP> lanes;   // [0] is made only when the launching stream is of another device
  std::vector<int> lane_device;
  unsigned long long flags = 0;
  OpP last_launch;  // launches of one graph do not overlap
};

// All REQUIRE the world's mutex.

// Adds a node behind the stream's captured work.
cudaError_t CaptureWork(Stream& stream, Work work);
// Makes the stream wait for nodes of a capture, joining it if it captures nothing yet.
cudaError_t JoinCapture(const StreamP& stream, const std::shared_ptr<Capture>& capture,
                        const std::vector<size_t>& nodes);
// The legacy stream may not be used while a blocking stream of its device captures.
cudaError_t ForbidImplicitDependency(int device);
// Takes the stream out of its capture, which becomes invalid.
void LeaveCapture(const StreamP& stream);

}  // namespace fakecuda
