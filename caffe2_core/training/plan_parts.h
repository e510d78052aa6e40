#pragma once
// Parts that plans of trainings and tests are made of.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/data_facts.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// A blob of one number.
OperatorDef FilledNumberOp(const std::string& blob, float value);
OperatorDef OpenDatabaseOp(const DatabasePlace& place, const std::string& reader);
// Loads the blobs from a minidb, to the devices that they were on.
OperatorDef LoadOp(const std::string& path, const std::vector<std::string>& blobs);

NetDef NamedNet(const std::string& name);
void AppendOps(const std::vector<OperatorDef>& ops, NetDef* net);
// The net with other operators before its own.
NetDef JoinedNet(const std::vector<OperatorDef>& first, const NetDef& net);

// Adds a substep to `outer`, without a net if `net` is "".
ExecutionStep* AddStep(const std::string& name, const std::string& net, int64_t iterations,
                       ExecutionStep* outer);

}  // namespace caffe2rt
