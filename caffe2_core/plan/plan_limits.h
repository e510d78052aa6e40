#pragma once
// Checks of a plan before any of it runs: size limits, which protect against hostile plans, and the
// validity of each step.

#include <string>

#include "caffe2_core/plan/plan_uses.h"

namespace caffe2rt {

inline constexpr int kMaxPlanDepth = 64;
// Threads that run at the same time, summed over all levels of nesting.
inline constexpr uint64_t kMaxPlanThreads = 1024;
// Steps plus the nets that they run. Every concurrent instance is counted.
inline constexpr uint64_t kMaxPlanSize = 65536;

// The number of concurrent instances of the step's substeps (except reporters), at least 1.
int InstancesOf(const ExecutionStep& step);

// A one-line message for the first limit that the plan exceeds, or "" if it exceeds none.
std::string PlanLimitProblem(const PlanDef& plan);

// THROWS if the step, or a step below it, names a net that is not in the plan or sets fields that
// exclude each other.
void VerifyStep(const ExecutionStep& step, const PlanNetDefs& nets);

}  // namespace caffe2rt
