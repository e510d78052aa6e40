#pragma once
// RunStop: ends the run of a net on Ctrl-C (SIGINT), SIGHUP, or when the time of --timeout is over.

#include <atomic>
#include <functional>

#include "binaries/commands/command.h"
#include "caffe2_core/base/signal_handler.h"

namespace caffe2rt {

inline constexpr Option kTimeoutOption = {
    "timeout", "S", "", "end a run that takes longer than S seconds", false, true};

class RunStop {
 public:
  // THROWS UsageError if the option's value is not a positive number.
  explicit RunStop(const CommandLine& line);

  // Calls `run`, which runs nets on this thread. If it is stopped, THROWS an error that says why, and
  // at which operator. A stop takes effect before the next operator, and in operators that wait or
  // loop.
  void Run(const std::function<void()>& run);

  // Whether a signal has arrived, in a run or since.
  bool interrupted();

 private:
  const double seconds_;                  // 0: no limit
  std::atomic<bool> interrupted_{false};  // the handler reports a signal only once
  SignalHandler signals_{SignalHandler::Action::STOP, SignalHandler::Action::STOP};
};

}  // namespace caffe2rt
