#pragma once
// Runs: without the interpreter's lock, and ended by Ctrl-C and by the exit of the
// interpreter.
//
//   RunWithoutLock([&] { CAFFE_ENFORCE(net->Run(), ...); });

#include <nanobind/nanobind.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <type_traits>

#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

// Remembers the calling thread as the interpreter's main thread. Called once, when the module is
// loaded.
void NoteMainThread();
// Stops all runs, those that begin later too, and waits until they have ended. Called when the
// interpreter exits, so that no thread runs operators of Python after that. A thread other than the
// main one does not return from its run then: it would print its error while the interpreter closes
// stderr, which aborts the process. REQUIRES: the lock, which is released meanwhile.
void StopAllRuns();

// One run. Created and destroyed with the lock.
class PythonRun {
 public:
  PythonRun();
  ~PythonRun();
  PythonRun(const PythonRun&) = delete;
  PythonRun& operator=(const PythonRun&) = delete;

  // Thread safe. On the main thread, it lets the interpreter handle signals from time to time: a
  // handler that raises an exception, as that of SIGINT does, stops the run.
  bool IsStopped();
  // If the interpreter exits and the thread is not its main one: counts the run as ended, and sleeps
  // until the process ends. Called without the lock.
  void StayIfExits();
  // THROWS the exception of the signal handler, if there was one. REQUIRES: the lock.
  void RethrowInterrupt();

 private:
  const bool is_main_;
  timespec checked_{};
  std::atomic<bool> interrupted_{false};
  std::unique_ptr<nanobind::python_error> interrupt_;
};

// The end of a run that is not part of another one, before its thread takes the lock.
class EndOfRun {
 public:
  EndOfRun(PythonRun* run, bool is_outermost) : run_(is_outermost ? run : nullptr) {}
  ~EndOfRun() {
    if (run_ != nullptr) run_->StayIfExits();
  }
  EndOfRun(const EndOfRun&) = delete;
  EndOfRun& operator=(const EndOfRun&) = delete;

 private:
  PythonRun* const run_;
};

// Calls `function` without the lock, and returns its result. THROWS what it throws, or the exception
// of a signal handler.
template <class Function>
auto RunWithoutLock(const Function& function) -> decltype(function()) {
  PythonRun run;
  try {
    const nanobind::gil_scoped_release unlocked;
    const EndOfRun end(&run, StopScope::Innermost() == nullptr);
    const StopScope scope([&run] { return run.IsStopped(); });
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
    } else {
      auto result = function();
      if (!run.IsStopped()) return result;
    }
  } catch (...) {
    run.RethrowInterrupt();
    throw;
  }
  run.RethrowInterrupt();
  if constexpr (!std::is_void_v<decltype(function())>) {
    throw RunStopped(__FILE__, __LINE__, "", "the run was stopped: the interpreter exits");
  }
}

}  // namespace caffe2rt
