#include "binaries/crash_handler.h"

#include <absl/debugging/failure_signal_handler.h>
#include <absl/debugging/stacktrace.h>
#include <absl/debugging/symbolize.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "caffe2_core/runtime/running_net.h"

namespace caffe2rt {
namespace {

#ifdef CAFFE2RT_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

struct Frames {
  void** addresses;
  int most;
  int count = 0;
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* data) {
  auto& frames = *static_cast<Frames*>(data);
  int interrupted = 0;
  void* const address = reinterpret_cast<void*>(_Unwind_GetIPInfo(context, &interrupted));
  if (interrupted != 0) {
    frames.count = 0;  // of the signal handler; abseil prints the interrupted address itself
  } else if (address != nullptr) {
    frames.addresses[frames.count++] = address;
  }
  return frames.count < frames.most ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

// abseil's own unwinder follows frame pointers, which neither optimized code nor its package has.
int Unwind(void** addresses, int* sizes, int most, int, const void*, int* dropped) {
  Frames frames = {.addresses = addresses, .most = most};
  _Unwind_Backtrace(&AddFrame, &frames);
  if (sizes != nullptr) std::fill_n(sizes, frames.count, 0);
  if (dropped != nullptr) *dropped = 0;
  return frames.count;
}

// abseil calls this with each line that it has printed, and with null after the last one.
void NameOperators(const char* line) {
  if (line != nullptr) return;
  RunningNet::Describe([](const char* text) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  });
}

}  // namespace

void InstallCrashHandler(const char* program) {
  if (kIsSanitized) return;
  absl::InitializeSymbolizer(program);
  absl::SetStackUnwinder(&Unwind);
  // abseil handles SIGTERM too, which is a request to end and not a crash.
  struct sigaction on_request = {};
  sigaction(SIGTERM, nullptr, &on_request);
  absl::FailureSignalHandlerOptions options;
  options.alarm_on_failure_secs = 10;  // finding the names is slow on a busy machine
  options.writerfn = &NameOperators;
  absl::InstallFailureSignalHandler(options);
  sigaction(SIGTERM, &on_request, nullptr);
}

}  // namespace caffe2rt
