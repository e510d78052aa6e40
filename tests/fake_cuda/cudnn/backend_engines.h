#pragma once

// The engines of the fake. All compute the same; they differ in their notes, workspaces and speed,
// so that the choice of a caller can be tested.

#include <vector>

#include "cudnn/backend_graph.h"

namespace fakecuda {

struct BackendEngine {
  std::vector<cudnnBackendNumericalNote_t> numerical;
  std::vector<cudnnBackendBehaviorNote_t> behavior;
  bool wants_workspace;
  bool supports_groups;
  int time;  // of an execution, as a multiple of value "cudnn_engine_us"
};
const BackendEngine& EngineOf(int engine);

// The engines that the heuristics of a mode return for the graph, in their order.
std::vector<int> EnginesFor(cudnnBackendHeurMode_t mode, const BackendGraph& graph);

// Whether the engine of a plan supports its graph.
cudnnStatus_t FinalizePlan(const BackendNode& plan);
size_t PlanWorkspaceBytes(const BackendNode& plan);

cudnnStatus_t ExecutePlan(cudnnHandle_t handle, const BackendNode& plan, const BackendNode& pack);

}  // namespace fakecuda
