#pragma once
// Damages nets and plans field by field, so that they still parse and reach the operators.

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Some of: arguments with edge values, of other kinds or names, gone or twice; other types, inputs,
// outputs, engines and devices; operators gone, twice, in another order; a new operator of any type
// that is here, with arguments that its schema names.
void MutateNet(Random* random, NetDef* net);

// Also steps: numbers of iterations and instances, nets and substeps gone, twice or within
// others, stop blobs, reporters, flags.
void MutatePlan(Random* random, PlanDef* plan);

// One of the nets.
void MutateMetaNet(Random* random, MetaNetDef* meta);

}  // namespace caffe2rt::test
