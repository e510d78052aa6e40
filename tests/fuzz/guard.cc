#include "tests/fuzz/guard.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

// Not null if a sanitizer is linked in.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace caffe2rt::test {
namespace {

constexpr unsigned kTimeLimitSeconds = 60;  // much, because machines may be busy

char options_of_run[200] = "";  // empty between runs; plain data, because signal handlers read it

void Print(const char* text) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, strlen(text));
}

void PrintOptions() {
  if (options_of_run[0] == '\0') return;
  Print("\ncaffe2_fuzz: repeat the failed run with ");
  Print(options_of_run);
  Print("\n");
}

void OnAlarm(int) {
  Print("\ncaffe2_fuzz: a run takes longer than the time limit");
  PrintOptions();
  // Abort instead of exit, to get a core dump or a stack trace.
  signal(SIGABRT, SIG_DFL);
  abort();
}

void OnCrash(int signal_number) {
  PrintOptions();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void InstallGuard() {
  signal(SIGALRM, OnAlarm);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(PrintOptions);
  } else {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, OnCrash);
  }
}

void StartRun(const std::string& options) {
  strncpy(options_of_run, options.c_str(), sizeof(options_of_run) - 1);
  alarm(kTimeLimitSeconds);
}

void EndRun() {
  alarm(0);
  options_of_run[0] = '\0';
}

}  // namespace caffe2rt::test
