#include "caffe2_core/base/signal_handler.h"

#include <csignal>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

// Written only by the signal handlers. The counters are lock-free, and therefore safe to use there.
std::atomic<unsigned> g_sigint_count{0};
std::atomic<unsigned> g_sighup_count{0};

void CountSignal(int signal) {
  if (signal == SIGINT) g_sigint_count.fetch_add(1);
  if (signal == SIGHUP) g_sighup_count.fetch_add(1);
}

struct Hooks {
  Mutex mutex;
  int users ABSL_GUARDED_BY(mutex) = 0;
  struct sigaction old_int ABSL_GUARDED_BY(mutex) = {};
  struct sigaction old_hup ABSL_GUARDED_BY(mutex) = {};
};

Hooks& TheHooks() {
  static Hooks* const hooks = new Hooks;
  return *hooks;
}

}  // namespace

SignalHandler::SignalHandler(Action sigint_action, Action sighup_action)
    : sigint_action_(sigint_action),
      sighup_action_(sighup_action),
      sigint_seen_(g_sigint_count.load()),
      sighup_seen_(g_sighup_count.load()) {
  Hooks& hooks = TheHooks();
  const MutexLock lock(hooks.mutex);
  if (hooks.users++ > 0) return;
  struct sigaction count = {};
  count.sa_handler = &CountSignal;
  count.sa_flags = SA_RESTART;
  sigaction(SIGINT, &count, &hooks.old_int);
  sigaction(SIGHUP, &count, &hooks.old_hup);
}

SignalHandler::~SignalHandler() {
  Hooks& hooks = TheHooks();
  const MutexLock lock(hooks.mutex);
  if (--hooks.users > 0) return;
  sigaction(SIGINT, &hooks.old_int, nullptr);
  sigaction(SIGHUP, &hooks.old_hup, nullptr);
}

unsigned SignalsSeen() {
  return g_sigint_count.load(std::memory_order_relaxed) +
         g_sighup_count.load(std::memory_order_relaxed);
}

bool SignalHandler::GotSIGINT() {
  const unsigned now = g_sigint_count.load();
  return sigint_seen_.exchange(now) != now;
}

bool SignalHandler::GotSIGHUP() {
  const unsigned now = g_sighup_count.load();
  return sighup_seen_.exchange(now) != now;
}

SignalHandler::Action SignalHandler::CheckForSignals() {
  if (GotSIGHUP()) return sighup_action_;
  if (GotSIGINT()) return sigint_action_;
  return Action::NONE;
}

}  // namespace caffe2rt
