#pragma once
// Generates plans and predictor nets, of which the corpus has few.

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Generates net "n<number>" over blobs "b0", "b1", ... and "stop", with cheap operators and
// operators that open files.
NetDef GenerateNet(Random* random, int number);

// Generates nested and concurrent steps over such nets, with stop blobs, reporters, concurrent
// instances and private workspaces.
PlanDef GeneratePlan(Random* random);

MetaNetDef GenerateMetaNet(Random* random);

}  // namespace caffe2rt::test
