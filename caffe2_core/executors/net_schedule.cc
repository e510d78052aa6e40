#include "caffe2_core/executors/net_schedule.h"

#include <algorithm>
#include <numeric>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Lists = std::vector<std::vector<uint32_t>>;

// The predecessors of each operator without those that other predecessors imply.
//
// For an operator with several predecessors, a search goes backwards from them and stops below the
// first one. What it meets is implied. All searches together visit a number of operators that is
// linear in the size of the net; after that, entries stay that are not needed, which is correct and
// may cut a chain.
class Reduction {
 public:
  explicit Reduction(const NetDependencies& dependencies)
      : dependencies_(dependencies), met_by_(dependencies.num_operators(), NetBlobs::kNone) {
    const size_t size = dependencies.num_operators();
    steps_left_ = kSteps + kStepsPerOperator * size;
    direct_.reserve(size);
    for (uint32_t op = 0; op < size; ++op) direct_.push_back(DirectOf(op));
  }
  Lists Take() { return std::move(direct_); }

 private:
  static constexpr size_t kSteps = 1'000'000;
  static constexpr size_t kStepsPerOperator = 64;

  std::vector<uint32_t> DirectOf(uint32_t op) {
    const std::span<const uint32_t> all = dependencies_.predecessors(op);
    std::vector<uint32_t> direct(all.begin(), all.end());
    if (direct.size() < 2) return direct;
    const uint32_t first = direct.front();
    open_ = direct;
    while (!open_.empty() && steps_left_ > 0) {
      const uint32_t current = open_.back();
      open_.pop_back();
      for (const uint32_t before : direct_[current]) {
        --steps_left_;
        if (before >= first && met_by_[before] != op) {
          met_by_[before] = op;
          open_.push_back(before);
        }
        if (steps_left_ == 0) break;
      }
    }
    std::erase_if(direct, [&](uint32_t before) { return met_by_[before] == op; });
    return direct;
  }

  const NetDependencies& dependencies_;
  Lists direct_;
  std::vector<uint32_t> met_by_;  // by operator: the operator whose search has met it last
  std::vector<uint32_t> open_;
  size_t steps_left_ = 0;
};

Lists SuccessorsOf(const Lists& predecessors) {
  Lists successors(predecessors.size());
  for (uint32_t op = 0; op < predecessors.size(); ++op) {
    for (const uint32_t before : predecessors[op]) successors[before].push_back(op);
  }
  return successors;
}

// The number of operators on the longest path from each operator to the end of the net.
std::vector<uint32_t> LongestPaths(const Lists& successors) {
  std::vector<uint32_t> paths(successors.size(), 1);
  for (size_t op = successors.size(); op-- > 0;) {
    for (const uint32_t next : successors[op]) paths[op] = std::max(paths[op], paths[next] + 1);
  }
  return paths;
}

}  // namespace

NetSchedule::NetSchedule(const NetDependencies& dependencies,
                         std::span<const ScheduledOperator> operators) {
  CAFFE_ENFORCE_EQ(operators.size(), dependencies.num_operators(), "operators of a schedule");
  const Lists predecessors = Reduction(dependencies).Take();
  const Lists successors = SuccessorsOf(predecessors);
  const std::vector<uint32_t> paths = LongestPaths(successors);
  const auto continues = [&](uint32_t op) {  // the chain of its predecessor
    if (predecessors[op].size() != 1) return false;
    const uint32_t before = predecessors[op].front();
    return successors[before].size() == 1 && operators[before].device == operators[op].device &&
           !operators[before].waits && !operators[op].waits;
  };
  std::vector<uint32_t> firsts;
  for (uint32_t op = 0; op < operators.size(); ++op) {
    if (!continues(op)) firsts.push_back(op);
  }
  std::stable_sort(firsts.begin(), firsts.end(),
                   [&paths](uint32_t a, uint32_t b) { return paths[a] > paths[b]; });
  std::vector<uint32_t> chain_of(operators.size());
  std::vector<uint32_t> lasts;
  for (uint32_t chain = 0; chain < firsts.size(); ++chain) {
    uint32_t op = firsts[chain];
    num_predecessors_.push_back(static_cast<uint32_t>(predecessors[op].size()));
    longest_paths_.push_back(paths[op]);
    waits_.push_back(operators[op].waits);
    any_waits_ = any_waits_ || operators[op].waits;
    while (true) {
      operators_.push_back(op);
      chain_of[op] = chain;
      if (successors[op].size() != 1 || !continues(successors[op].front())) break;
      op = successors[op].front();
    }
    lasts.push_back(op);
    operator_ends_.push_back(operators_.size());
  }
  for (uint32_t chain = 0; chain < firsts.size(); ++chain) {
    for (const uint32_t next : successors[lasts[chain]]) successors_.push_back(chain_of[next]);
    std::sort(successors_.begin() + static_cast<std::ptrdiff_t>(successor_ends_.back()),
              successors_.end());
    successor_ends_.push_back(successors_.size());
  }
  // Without branches, the longest path goes through all operators.
  has_branches_ = !paths.empty() && *std::max_element(paths.begin(), paths.end()) < paths.size();
}

}  // namespace caffe2rt
