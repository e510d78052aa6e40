#pragma once
// Random plans over everything that lets blobs share memory or objects: Alias, views, scopes of Do,
// nets in arguments, recurrent networks, queues, mutexes, datasets, lists of tensors and files.

#include <random>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

// A plan of three parts: steps that create all blobs and let some of them share memory, a step with
// concurrent substeps, and a loop around such a step. Values of blobs whose names begin with
// "any_" depend on the order of the substeps. The plan needs the file "file.minidb" in the root
// folder, which InitSharingPlans writes.
PlanDef MakeSharingPlan(unsigned seed);
void InitSharingPlans(const std::string& folder);

// Changes the step so that its substeps and instances run one after the other.
void MakeSequential(ExecutionStep* step);

}  // namespace caffe2rt::test
