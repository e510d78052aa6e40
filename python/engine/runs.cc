#include "python/engine/runs.h"

#include <chrono>
#include <thread>

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr long kSignalCheckNanoseconds = 50'000'000;
constexpr std::chrono::seconds kLongestExit{10};

std::atomic<unsigned long> g_main_thread{0};
std::atomic<bool> g_exits{false};
std::atomic<int> g_runs{0};

timespec Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now;
}

long NanosecondsBetween(const timespec& from, const timespec& to) {
  return (to.tv_sec - from.tv_sec) * 1'000'000'000 + (to.tv_nsec - from.tv_nsec);
}

}  // namespace

void NoteMainThread() { g_main_thread = PyThread_get_thread_ident(); }

void StopAllRuns() {
  g_exits = true;
  const nb::gil_scoped_release unlocked;
  const auto end = std::chrono::steady_clock::now() + kLongestExit;
  while (g_runs > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

PythonRun::PythonRun() : is_main_(PyThread_get_thread_ident() == g_main_thread), checked_(Now()) {
  ++g_runs;
}

PythonRun::~PythonRun() { --g_runs; }

bool PythonRun::IsStopped() {
  if (interrupted_.load(std::memory_order_relaxed) || g_exits.load(std::memory_order_relaxed)) {
    return true;
  }
  if (!is_main_ || PyThread_get_thread_ident() != g_main_thread) return false;
  const timespec now = Now();
  if (NanosecondsBetween(checked_, now) < kSignalCheckNanoseconds) return false;
  checked_ = now;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() == 0) return false;
  interrupt_ = std::make_unique<nb::python_error>();
  interrupted_ = true;
  return true;
}

void PythonRun::StayIfExits() {
  if (is_main_ || !g_exits) return;
  --g_runs;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void PythonRun::RethrowInterrupt() {
  if (!interrupted_) return;
  throw nb::python_error(*interrupt_);
}

}  // namespace caffe2rt
