#include "binaries/commands/run_stop.h"

#include <chrono>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

// The longest time that a deadline can be away.
constexpr double kMostSeconds = 1e9;

double SecondsOf(const CommandLine& line) {
  if (!line.Has("timeout")) return 0;
  std::vector<float> seconds;
  try {
    seconds = line.Floats("timeout");
  } catch (const UsageError&) {  // states what a list of numbers is
  }
  if (seconds.size() != 1 || !(seconds[0] > 0) || seconds[0] > kMostSeconds) {
    throw UsageError("option --timeout is \"" + line.Text("timeout") +
                     "\", want a number of seconds above 0, at most 1e9");
  }
  return seconds[0];
}

}  // namespace

RunStop::RunStop(const CommandLine& line) : seconds_(SecondsOf(line)) {}

bool RunStop::interrupted() {
  if (signals_.CheckForSignals() != SignalHandler::Action::NONE) interrupted_ = true;
  return interrupted_.load();
}

void RunStop::Run(const std::function<void()>& run) {
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds_ > 0 ? seconds_ : kMostSeconds));
  const auto is_stopped = [&] { return interrupted() || (seconds_ > 0 && Clock::now() >= end); };
  const StopScope scope(std::cref(is_stopped));  // a copy would need memory in each run
  try {
    run();
  } catch (RunStopped& error) {
    error.AppendMessage(interrupted_.load()
                            ? std::string("the program was interrupted by a signal")
                            : MakeString("the ", ShortText(seconds_), " s of --timeout are over"));
    throw;
  }
}

}  // namespace caffe2rt
