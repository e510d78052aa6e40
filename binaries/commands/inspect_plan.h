#pragma once
// The part of `caffe2 inspect` that follows the blobs of a plan from net to net.

#include <cstddef>

#include "binaries/json_output.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Prints a table of at most `limit` blobs, with the nets that write and read each.
void PrintFlows(const PlanDef& plan, size_t limit);
// Sets `json` to an array of all of them.
void WriteFlows(const PlanDef& plan, Json* json);

}  // namespace caffe2rt
