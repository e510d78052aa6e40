#pragma once
// What a training on several ranks adds to its nets:
//
//   init    a store and a world; broadcasts of the state from rank 0
//   train   an Allreduce for each large gradient, behind the operator that writes it last; one
//           AllreduceCoalesced for all small ones and the votes: loss, accuracy, and whether a rank wants to
//           stop
//   test    an Allreduce of the sums
//
// The gradients are means over the whole batch: a rank's are scaled by its share of it, in the gradient of
// the loss. Iter waits for all collectives of the step, and all operators that change parameters or
// moments read what Iter writes. State that the forward pass changes (running means) is copied before.

#include <string>
#include <vector>

#include "caffe2_core/training/optimizer_nets.h"
#include "caffe2_core/training/ranks.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

inline constexpr char kWorldBlob[] = "train_world";
inline constexpr char kStopBlob[] = "train_stop";  // float [1], set before a step: 1: end behind it
inline constexpr char kVotesBlob[] =
    "train_votes";  // loss, accuracy (if there is one), stop: over all ranks
inline constexpr char kKeptSuffix[] = "_before_step";
// A gradient with as many elements has its own Allreduce, which does not copy it, and whose data move
// while the other gradients are computed.
inline constexpr int64_t kLargeGradient = 65536;

struct DataParallelNet {
  RankOptions ranks;
  float share = 1;  // of the batch
  std::string loss, accuracy;
  const NetDef* init = nullptr;  // fills the parameters, and so knows their shapes
};

// THROWS if the ranks cannot train the parameters together: gradients of rows.
void CheckForRanks(const std::vector<TrainedParameter>& parameters);
// Adds the collectives to a net with gradients, but without an optimizer.
void AddGradientSums(const DataParallelNet& def, const std::vector<TrainedParameter>& parameters,
                     NetDef* net);
// Makes Iter wait for them, and copies `changed_early` at the beginning.
void OrderUpdates(const std::vector<TrainedParameter>& parameters,
                  const std::vector<std::string>& changed_early, NetDef* net);
// The blobs of `state` that the operators before Iter write.
std::vector<std::string> ChangedBeforeUpdates(const NetDef& train,
                                              const std::vector<std::string>& state);
// The operators that connect the ranks, and broadcast the blobs.
std::vector<OperatorDef> ConnectOperators(const RankOptions& ranks,
                                          const std::vector<std::string>& blobs);
// Replaces the blob by its sum over all ranks.
OperatorDef AllreduceOp(const std::string& blob);

}  // namespace caffe2rt
