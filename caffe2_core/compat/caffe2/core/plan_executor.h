#pragma once
// Runs plans.
#include <functional>

#include "caffe2/core/workspace.h"
#include "caffe2_core/plan/plan_executor.h"

namespace caffe2 {
using ShouldContinue = std::function<bool(int)>;
using ::caffe2rt::RunPlanOnWorkspace;
}  // namespace caffe2
