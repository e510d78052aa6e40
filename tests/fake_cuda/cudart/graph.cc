// Graphs: creation by capture, instantiation, launch and update.

#include "cudart/graph.h"

#include <algorithm>

#include "cudart/world.h"

namespace fakecuda {
namespace {

// Assigns each node the lane of a node that it depends on, if that node is the last of its lane and
// on the same device. Otherwise the node gets a new lane. Lane 0 belongs to the device of the first
// node.
void AssignLanes(GraphExec& exec) {
  std::vector<size_t> last;  // by lane: its last node
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    const Node& node = exec.nodes[i];
    size_t lane = last.size();
    for (const size_t before : node.after) {
      const size_t candidate = exec.lane_of[before];
      if (last[candidate] == before && exec.lane_device[candidate] == node.device) lane = candidate;
    }
    if (lane == last.size()) {
      last.push_back(i);
      exec.lane_device.push_back(node.device);
    }
    last[lane] = i;
    exec.lane_of.push_back(lane);
  }
  exec.lanes.resize(last.size());
}

StreamP Lane(GraphExec& exec, size_t lane, const StreamP& stream) {
  if (lane == 0 && exec.lane_device[0] == stream->device) return stream;
  if (!exec.lanes[lane]) {
    exec.lanes[lane] = MakeStream(exec.lane_device[lane], cudaStreamNonBlocking, 0);
    exec.lanes[lane]->internal = true;
  }
  return exec.lanes[lane];
}

// Enqueues all nodes on their lanes. A lane begins after the launch operation, and waits wherever a
// node depends on one of another lane. Finally the launching stream waits for all lanes.
void Replay(GraphExec& exec, const StreamP& stream) {
  OrderWithLegacy(stream);
  if (exec.last_launch) PushWait(stream, exec.last_launch);
  const OpP begin = Push(stream, {.name = "graph launch"});
  std::vector<OpP> ops(exec.nodes.size());
  std::vector<StreamP> used(exec.lanes.size());
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    const size_t lane = exec.lane_of[i];
    if (!used[lane]) {
      used[lane] = Lane(exec, lane, stream);
      if (used[lane] != stream) PushWait(used[lane], begin);
    }
    for (const size_t before : exec.nodes[i].after) {
      if (exec.lane_of[before] != lane) PushWait(used[lane], ops[before]);
    }
    ops[i] = Push(used[lane], exec.nodes[i].work);
  }
  for (const StreamP& lane : used) {
    if (lane && lane != stream) PushWait(stream, lane->last);
  }
  exec.last_launch = Push(stream, {.name = "graph end"});
}

// A launch into a capturing stream: adds the nodes to that capture.
cudaError_t CaptureLaunch(const GraphExec& exec, Stream& stream) {
  if (stream.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node>& nodes = stream.capture->graph->nodes;
  const size_t offset = nodes.size();
  std::vector<bool> is_leaf(exec.nodes.size(), true);
  for (Node node : exec.nodes) {
    for (size_t& before : node.after) {
      is_leaf[before] = false;
      before += offset;
    }
    if (node.after.empty()) node.after = stream.capture_tail;
    nodes.push_back(std::move(node));
  }
  if (exec.nodes.empty()) return cudaSuccess;
  stream.capture_tail.clear();
  for (size_t i = 0; i < is_leaf.size(); ++i) {
    if (is_leaf[i]) stream.capture_tail.push_back(offset + i);
  }
  return cudaSuccess;
}

cudaError_t Instantiate(Call& call, cudaGraphExec_t* exec, cudaGraph_t handle,
                        unsigned long long flags) {
  if (exec == nullptr) return call.Return(cudaErrorInvalidValue);
  const auto* graph = TheWorld().graphs.Find(handle);
  if (graph == nullptr) return call.Return(cudaErrorInvalidValue);
  auto made = std::make_shared<GraphExec>();
  made->nodes = (*graph)->nodes;
  made->flags = flags;
  AssignLanes(*made);
  *exec = static_cast<cudaGraphExec_t>(TheWorld().execs.Add(std::move(made)));
  return cudaSuccess;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (graph == nullptr || flags != 0) return call.Return(cudaErrorInvalidValue);
  *graph = static_cast<cudaGraph_t>(TheWorld().graphs.Add(std::make_shared<Graph>()));
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  FAKECUDA_CALL(kPlain);
  const auto* graph = TheWorld().graphs.Find(handle);
  if (graph == nullptr) return call.Return(cudaErrorInvalidValue);
  const std::shared_ptr<Graph> last = *graph;  // releases arguments of user code without the lock
  TheWorld().graphs.Remove(handle);
  call.Unlock();
  return cudaSuccess;
}

// The fake's nodes have no handles, so only their number is returned.
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  FAKECUDA_CALL(kPlain);
  const auto* graph = TheWorld().graphs.Find(handle);
  if (graph == nullptr || count == nullptr) return call.Return(cudaErrorInvalidValue);
  if (nodes != nullptr) return call.Return(cudaErrorNotSupported);
  *count = (*graph)->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  FAKECUDA_CALL(kPlain);
  return Instantiate(call, exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  FAKECUDA_CALL(kPlain);
  return Instantiate(call, exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  FAKECUDA_CALL(kPlain);
  const auto* exec = TheWorld().execs.Find(handle);
  if (exec == nullptr) return call.Return(cudaErrorInvalidValue);
  const std::shared_ptr<GraphExec> last = *exec;
  TheWorld().execs.Remove(handle);
  for (const StreamP& lane : last->lanes) {
    if (lane) Close(lane);
  }
  call.Unlock();
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  if (TheWorld().execs.Find(exec) == nullptr) return call.Return(cudaErrorInvalidValue);
  return call.Return(Resolve(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  FAKECUDA_CALL(kPlain);
  const auto* exec = TheWorld().execs.Find(handle);
  if (exec == nullptr) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(stream_handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (stream->capture) return call.Return(CaptureLaunch(**exec, *stream));
  if (stream->legacy) {
    const cudaError_t error = ForbidImplicitDependency(stream->device);
    if (error != cudaSuccess) return call.Return(error);
  }
  Replay(**exec, stream);
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                cudaGraphExecUpdateResultInfo* info) {
  FAKECUDA_CALL(kPlain);
  const auto* exec = TheWorld().execs.Find(handle);
  const auto* graph = TheWorld().graphs.Find(graph_handle);
  if (exec == nullptr || graph == nullptr || info == nullptr) {
    return call.Return(cudaErrorInvalidValue);
  }
  *info = {};
  const std::vector<Node>& wanted = (*graph)->nodes;
  std::vector<Node>& nodes = (*exec)->nodes;
  const bool same = std::equal(
      nodes.begin(), nodes.end(), wanted.begin(), wanted.end(), [](const Node& a, const Node& b) {
        return a.after == b.after && a.device == b.device && a.work.type == b.work.type;
      });
  if (!same) {
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    return call.Return(cudaErrorGraphExecUpdateFailure);
  }
  info->result = cudaGraphExecUpdateSuccess;
  std::vector<Node> replaced = wanted;
  replaced.swap(nodes);
  call.Unlock();  // `replaced` releases arguments of user code
  return cudaSuccess;
}

}  // extern "C"
