#pragma once
// ChainChoice: what an idle thread of a net prefers, ready chains or pieces of the operators that run.
//
//   ChainChoice choice;
//   const bool helps_first = choice.helps_first();          // of the next run
//   const bool measures = choice.measures();
//   ... measures ? choice.Ran(duration) : choice.Ran();     // after it, if it has succeeded
//
// Chains on several threads gain where operators cannot be divided. Where they can, threads that divide
// each operator end at the same time, while chains have unequal lengths, and their data is in the cache
// of another core. Which is faster cannot be told from the net, so it is measured: after the first
// runs, which prepare operators, kCompared runs of each kind are timed in turns, and the kind of the
// fastest one is kept for kFewestKept runs. A comparison that confirms the choice doubles that number,
// up to kMostKept. If the other kind takes 1.25 times as long, its first run decides.
//
// Not thread safe. No clock is read: all times are given.

#include <algorithm>
#include <array>
#include <chrono>

namespace caffe2rt {

class ChainChoice {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr int kFirstRuns = 2;
  static constexpr int kCompared = 4;
  static constexpr int kFewestKept = 64;
  static constexpr int kMostKept = 1024;

  // Whether an idle thread of the next run takes a chain only if nobody has offered pieces for long.
  bool helps_first() const { return helps_first_; }
  // Whether the next run should be timed.
  bool measures() const { return compared_ >= 0; }
  // A run has ended that should not be timed.
  void Ran();
  // A run has ended that should be timed.
  void Ran(Duration duration);

 private:
  void Decide();

  bool helps_first_ = false;
  bool kept_ = false;      // the value of helps_first_ outside of comparisons
  int left_ = kFirstRuns;  // runs until the next comparison
  int kept_runs_ = kFewestKept;
  int compared_ = -1;                // runs of this comparison; -1: there is none
  std::array<Duration, 2> least_{};  // by helps_first_
};

inline void ChainChoice::Ran() {
  if (--left_ > 0) return;
  compared_ = 0;
  least_ = {Duration::max(), Duration::max()};
}

inline void ChainChoice::Ran(Duration duration) {
  Duration& least = least_[helps_first_ ? 1 : 0];
  least = std::min(least, duration);
  ++compared_;
  helps_first_ = !helps_first_;
  const Duration kept = least_[kept_ ? 1 : 0], other = least_[kept_ ? 0 : 1];
  const bool is_far_slower = other != Duration::max() && other - kept > kept / 4;
  if (compared_ == 2 * kCompared || (compared_ == 2 && is_far_slower)) Decide();
}

inline void ChainChoice::Decide() {
  const bool faster = least_[1] < least_[0];
  kept_runs_ = faster == kept_ ? std::min(2 * kept_runs_, kMostKept) : kFewestKept;
  kept_ = helps_first_ = faster;
  left_ = kept_runs_;
  compared_ = -1;
}

}  // namespace caffe2rt
