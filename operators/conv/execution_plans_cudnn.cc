#include "operators/conv/execution_plans_cudnn.h"

#include <algorithm>
#include <optional>

namespace caffe2rt {

namespace {

bool MayUse(cudnnBackendNumericalNote_t note, const CudnnEngineLimits& limits) {
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      return limits.allow_tf32;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      return false;
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      return !limits.deterministic;
    default:
      return true;
  }
}

// Whether the engine's notes allow its use. An engine whose notes cannot be read is not used.
bool MayUseEngineOf(CudnnDescriptor& config, const CudnnEngineLimits& limits) {
  std::vector<CudnnDescriptor> engines =
      config.GetDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.size() != 1) return false;
  CudnnDescriptor& engine = engines.front();
  const auto numerical = engine.Get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const auto behavior = engine.Get<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                               CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  return engine.ok() &&
         std::all_of(numerical.begin(), numerical.end(),
                     [&](cudnnBackendNumericalNote_t note) { return MayUse(note, limits); }) &&
         std::find(behavior.begin(), behavior.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) ==
             behavior.end();
}

// Returns nothing if the engine does not support the graph within the limit of the workspace.
std::optional<CudnnExecutionPlan> MakePlan(cudnnHandle_t handle, CudnnDescriptor config,
                                           size_t limit_bytes) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
  plan.SetDescriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  if (!plan.Finalize()) return std::nullopt;
  const std::vector<int64_t> nbytes =
      plan.Get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1);
  if (nbytes.size() != 1 || nbytes[0] < 0) return std::nullopt;
  const auto workspace_nbytes = static_cast<size_t>(nbytes[0]);
  if (workspace_nbytes > limit_bytes) return std::nullopt;
  return CudnnExecutionPlan{std::move(config), std::move(plan), workspace_nbytes};
}

}  // namespace

std::vector<CudnnExecutionPlan> FindExecutionPlans(cudnnHandle_t handle,
                                                   const CudnnDescriptor& graph,
                                                   cudnnBackendHeurMode_t mode,
                                                   const CudnnEngineLimits& limits, size_t most) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.SetDescriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  std::vector<CudnnExecutionPlan> plans;
  if (!heuristics.Finalize()) return plans;
  for (CudnnDescriptor& config :
       heuristics.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                 heuristics.CountDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS))) {
    if (plans.size() == most) break;
    if (!MayUseEngineOf(config, limits)) continue;
    std::optional<CudnnExecutionPlan> plan =
        MakePlan(handle, std::move(config), limits.workspace_nbytes);
    if (plan.has_value()) plans.push_back(std::move(*plan));
  }
  return plans;
}

}  // namespace caffe2rt
