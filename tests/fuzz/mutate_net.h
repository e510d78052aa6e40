#pragma once
// Damages nets and plans field by field, so that they still parse and reach the operators.

#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

// Adds an operator of the type at a random position, over blobs of the net, with arguments that its
// schema names. Adds nothing if the type has no schema.
void AddOperator(const std::string& type, Random* random, NetDef* net);

// Applies some of these mutations: arguments with edge values, with other types or names, removed
// or duplicated; other types, inputs, outputs, engines and devices; operators removed, duplicated
// or reordered; a new operator of any available type, with arguments that its schema names.
void MutateNet(Random* random, NetDef* net);

// Also mutates steps: numbers of iterations and instances; nets and substeps removed, duplicated or
// nested; stop blobs, reporters, flags.
void MutatePlan(Random* random, PlanDef* plan);

// Mutates one of the nets.
void MutateMetaNet(Random* random, MetaNetDef* meta);

}  // namespace caffe2rt::test
