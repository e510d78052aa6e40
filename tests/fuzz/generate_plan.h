#pragma once
// Makes plans and predictors' nets from nothing, for the corpus has few.

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Nets "n0", "n1", ... over blobs "b0", "b1", ... and "stop", of cheap operators and operators that
// open files.
NetDef GenerateNet(Random* random, int number);

// Nested and concurrent steps over such nets, with stop blobs, reporters, instances and workspaces
// of their own.
PlanDef GeneratePlan(Random* random);

MetaNetDef GenerateMetaNet(Random* random);

}  // namespace caffe2rt::test
