#pragma once
// Follows the blobs of a plan from the net that writes them to the nets that read them.
//
//   plan: steps init, then 10 times: train       init: -> w      train: x w -> y, w
//
//   FollowBlobs(plan):   w  from init   to train
//                        x  from ""     to train           (from outside the plan)
//                        w  from train  to train, in the next iteration

#include <string>
#include <vector>

#include "caffe2_core/base/language.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct BlobFlow {
  std::string blob = {};
  std::string from = {};  // the net that writes the value; empty: it comes from outside the plan
  std::string to = {};    // the net, or the step, that reads it
  bool to_step = false;   // `to` is a step, which stops when the blob is true
  bool next_iteration = false;  // the reader gets the value in the next iteration of a step

  bool operator==(const BlobFlow&) const = default;
};

// Returns each flow once, in the order in which the steps run their nets, as if the substeps of
// every step ran one after the other and every net once per iteration. Only inputs count as reads,
// and only outputs as writes. A net that the plan does not contain is left out. Time is linear in
// the size of the plan times the depth of its steps.
std::vector<BlobFlow> FollowBlobs(const PlanDef& plan);

}  // namespace caffe2rt
#pragma GCC visibility pop
