#pragma once
// Reporters of plans: threads that call a function every so often, and the turns that their nets
// take with the nets of the step they report on.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace caffe2rt {

struct StepUses;

// First come, first served: a report waits for the nets that run and delays those that come later.
class Turns {
 public:
  void BeginNet() { Begin(false); }
  void BeginReport() { Begin(true); }
  void EndNet();
  void EndReport();

 private:
  void Begin(bool report);

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_ticket_ = 0;
  uint64_t admitted_ = 0;  // tickets
  int nets_ = 0;           // that run
  bool reporting_ = false;
};

// The turns that a net must take: those of all steps around it that have reporters, from the
// outermost inwards, so that nobody waits in a circle.
struct TurnsAround {
  Turns* turns = nullptr;
  bool reports = false;                // the net belongs to a reporter of that step
  const TurnsAround* outer = nullptr;  // null: none
  // What the reporters of that step use (plan_uses.h).
  const StepUses* reporters = nullptr;
};

// Takes all of them for the life of the object. Null: none are needed.
class TurnsTaken {
 public:
  explicit TurnsTaken(const TurnsAround* around) : around_(around) { Take(around); }
  ~TurnsTaken();
  TurnsTaken(const TurnsTaken&) = delete;
  TurnsTaken& operator=(const TurnsTaken&) = delete;

 private:
  static void Take(const TurnsAround* around);
  const TurnsAround* const around_;
};

// Calls a function every period in a thread of its own, and once more at the end. Failures are
// logged.
class Reporter {
 public:
  Reporter(std::chrono::milliseconds period, std::function<void()> report);
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  void Run(std::chrono::milliseconds period);
  void Report() const;

  const std::function<void()> report_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace caffe2rt
