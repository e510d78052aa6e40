#pragma once
// What a plan must keep to before any of it runs: limits against hostile plans, and the form of its
// steps.

#include <string>

#include "caffe2_core/runtime/plan_uses.h"

namespace caffe2rt {

inline constexpr int kMaxPlanDepth = 64;
// Threads that run at once, over all levels of nesting.
inline constexpr uint64_t kMaxPlanThreads = 1024;
// Steps, and nets in them, each as often as it has concurrent instances.
inline constexpr uint64_t kMaxPlanSize = 65536;

// The copies of a step's recurring substeps that run at once.
int InstancesOf(const ExecutionStep& step);

// The first limit that the plan exceeds, in one line; empty if it exceeds none.
std::string PlanLimitProblem(const PlanDef& plan);

// THROWS when the step or one below it cannot be right: nets that the plan does not have, fields
// that exclude each other.
void VerifyStep(const ExecutionStep& step, const PlanNetDefs& nets);

}  // namespace caffe2rt
