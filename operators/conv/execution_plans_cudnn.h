#pragma once
// Execution plans of cuDNN's backend API: which engines may compute a graph of operations. Only for
// files that are built if cuDNN's headers are available.

#include <vector>

#include "contexts/cuda/cudnn_backend.h"

namespace caffe2rt {

struct CudnnEngineLimits {
  bool allow_tf32 = false;
  bool deterministic = false;
  size_t workspace_nbytes = 0;
};

// A finalized plan and the engine configuration that it was made from.
struct CudnnExecutionPlan {
  CudnnDescriptor config, plan;
  size_t workspace_nbytes;
};

// Returns the plans of the first `most` engine configurations, in the order of cuDNN's heuristics,
// that support the graph within the limits. Engines that round float inputs to fewer bits than TF32
// has, or that add in less than float, are left out, as are those that compile kernels, which takes
// seconds. Empty if cuDNN reports an error. REQUIRES: HasCudnnBackend().
std::vector<CudnnExecutionPlan> FindExecutionPlans(cudnnHandle_t handle,
                                                   const CudnnDescriptor& graph,
                                                   cudnnBackendHeurMode_t mode,
                                                   const CudnnEngineLimits& limits, size_t most);

}  // namespace caffe2rt
