#pragma once
// Decides which blobs that a net does not write are weights (flow_graph.h has the rule).

#include <set>
#include <string>

#include "caffe2_core/graph/net_blobs.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Whether input `k` of operator `op` is a weight. REQUIRES: no operator of the net writes the blob
// before `op`.
bool IsWeightInput(const NetDef& net, const NetBlobs& blobs,
                   const std::set<std::string>& parameters, size_t op, size_t k);

}  // namespace caffe2rt
