#pragma once
// NetSchedule: the operators of a net in chains, for executors of several threads.
//
//   operator                          chain   predecessors  longest path
//   0: FC    x w -> a                 0       0             3
//   1: Relu  a -> a                   0
//   2: Copy  x -> b                   1       0             2
//   3: Add   a b -> c                 2       2             1
//
// The operators of a chain run one after the other on one thread. A chain is a linear run of
// operators on one device: forks and joins of the dependencies end it. An operator that may wait
// for another one (OperatorTraits::waits) is a chain of its own. The longest path of a chain is the
// largest number of operators that have to run one after the other from its beginning to the end of
// the net. The chains are in the order in which a thread that can choose should start them:
// descending longest path, and for equal ones the order of the net. Each stands after its
// predecessors.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "caffe2_core/graph/dependencies.h"

namespace caffe2rt {

// What the schedule needs to know of an operator.
struct ScheduledOperator {
  uint32_t device = 0;  // equal numbers mean the same device
  bool waits = false;
};

// Immutable after construction, and therefore thread safe.
class NetSchedule {
 public:
  // A pure function of its arguments. REQUIRES: `operators` has an entry for each operator of the
  // dependencies. Takes time linear in their number, except for sorting.
  NetSchedule(const NetDependencies& dependencies, std::span<const ScheduledOperator> operators);

  size_t num_chains() const { return waits_.size(); }
  size_t num_operators() const { return operators_.size(); }
  // Positions in the net, in the order in which they run.
  std::span<const uint32_t> operators(size_t chain) const {
    return {operators_.data() + operator_ends_[chain],
            operator_ends_[chain + 1] - operator_ends_[chain]};
  }
  // The chains that have this one as a predecessor, in ascending order.
  std::span<const uint32_t> successors(size_t chain) const {
    return {successors_.data() + successor_ends_[chain],
            successor_ends_[chain + 1] - successor_ends_[chain]};
  }
  uint32_t num_predecessors(size_t chain) const { return num_predecessors_[chain]; }
  uint32_t longest_path(size_t chain) const { return longest_paths_[chain]; }
  bool waits(size_t chain) const { return waits_[chain]; }
  bool any_waits() const { return any_waits_; }
  // Whether two operators could run at the same time.
  bool has_branches() const { return has_branches_; }

 private:
  std::vector<uint32_t> operators_;
  std::vector<size_t> operator_ends_ = {0};
  std::vector<uint32_t> successors_;
  std::vector<size_t> successor_ends_ = {0};
  std::vector<uint32_t> num_predecessors_;
  std::vector<uint32_t> longest_paths_;
  std::vector<bool> waits_;
  bool any_waits_ = false;
  bool has_branches_ = false;
};

}  // namespace caffe2rt
