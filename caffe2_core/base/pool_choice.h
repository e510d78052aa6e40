#pragma once
// PoolChoice: whether the jobs of a thread pool run on all threads together or on the caller alone.
//
//   PoolChoice choice;
//   const PoolChoice::Way way = choice.Next(key, now);         // before each job
//   ... choice.RanTogether(key, {.start = now, ...});          // after it, or
//   ... choice.RanAlone(key, duration);                        // if way is kAloneMeasured
//
// Two things are measured. The first is what other processes cost: a worker whose core they occupy
// stalls a job for a time slice. The time that jobs together have saved is a credit, up to
// kMostCredit, and each stall is subtracted from it. When it is used up, all jobs run alone for 20
// times what was lost beyond it, between kShortestPause and kLongestPause; then the next jobs run
// together with a small credit. So stalls that cost less than running together saves change nothing, a core
// that stays occupied costs about a twentieth of the time, and a single stall is soon forgotten.
//
// The second is whether an operator gains at all. A key stands for an operator's jobs. If its jobs
// together take longer than the caller's own pieces suggest for all pieces, kCompared jobs are timed
// alone and kCompared together, and the faster way is kept: together for kMostKept jobs at least, alone for
// kFirstKept, then twice as many after each comparison that confirms it, up to kMostKept. So a disturbance
// that spoils a comparison is soon forgotten.
//
// Not thread safe. No clock is read: all times are given.

#include <array>
#include <chrono>
#include <cstdint>

namespace caffe2rt {

class PoolChoice {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kMostCredit = std::chrono::milliseconds(5);
  static constexpr Duration kFirstCredit = std::chrono::milliseconds(1);
  // A job saves at most twice what jobs of its key usually save, or this if that is more: a caller that
  // another process delays seems to save much.
  static constexpr Duration kUsuallySaved = std::chrono::microseconds(100);
  static constexpr Duration kShortestPause = std::chrono::milliseconds(20);
  static constexpr Duration kLongestPause = std::chrono::milliseconds(640);
  static constexpr int kCompared = 4;
  static constexpr int kFirstKept = 8, kMostKept = 64;

  enum class Way { kTogether, kAlone, kAloneMeasured };
  Way Next(uint64_t key, Time now);

  // A job that has run on all threads.
  struct Job {
    Time start, end;
    Time own_end;      // of the caller's own pieces
    uint32_t own = 0;  // their number
    uint32_t pieces = 0;
    bool stalled = false;  // a worker waited for a processor
  };
  void RanTogether(uint64_t key, const Job& job);
  void RanAlone(uint64_t key, Duration duration);

 private:
  enum class State : uint8_t { kTogether, kCompareAlone, kCompareTogether, kKeepAlone };
  struct Key {
    uint64_t key = 0;
    State state = State::kTogether;
    int kept = kFirstKept;           // jobs for which alone is kept next time
    int left = 0;                    // jobs in this state; in kTogether, those before it can change
    float slowness = 0.5f;           // recent time together / estimated time alone
    Duration usually_saved{0};       // by a job together
    Duration alone{0}, together{0};  // sums of a comparison
  };

  // A key that meets another one in its place starts from the beginning.
  Key& Find(uint64_t key);
  static void Compare(Key* entry);
  void UpdateCredit(const Job& job, Duration alone, Key* key);

  Duration credit_ = kFirstCredit;
  Time alone_until_{};
  std::array<Key, 256> keys_{};
};

}  // namespace caffe2rt
