#pragma once
// Creates and runs the nets of one input. All functions run below the current folder, take their
// random choices from `random` alone, and THROW EnforceNotMet if the library reports an error.

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// A policy that allows the current folder or, one time in eight, nothing.
FileAccess RandomAccess(Random* random);

// Checks the net, infers its shapes and costs, and runs it twice. Its inputs are the weights of
// `origin`, which may be null, and random tensors.
void ExerciseNet(NetDef net, const CorpusFile* origin, Random* random);
// The same in a workspace that may hold weights of the net.
void ExerciseNet(NetDef net, const CorpusFile* origin, Random* random, Workspace* ws);
// Does the same with the nets of a plan, and runs the plan for a limited number of iterations.
void ExercisePlan(PlanDef plan, const CorpusFile* origin, Random* random);
// Calls a predictor of the nets once.
void ExerciseMetaNet(MetaNetDef meta, const CorpusFile* origin, Random* random);

}  // namespace caffe2rt::test
