#include "caffe2_core/runtime/waiting.h"

#include <utility>

namespace caffe2rt {

StopScope::StopScope(std::function<bool()> is_stopped, const StopScope* outer, Ends ends)
    : is_stopped_(std::move(is_stopped)),
      ends_(ends),
      outer_(outer),
      before_(t_thread_state.stop_scope) {
  t_thread_state.stop_scope = this;
}

StopScope::StopScope(const std::atomic<bool>& stopped)
    : flag_(&stopped), outer_(t_thread_state.stop_scope), before_(outer_) {
  t_thread_state.stop_scope = this;
}

void ThrowIfStopped() {
  for (const StopScope* scope = StopScope::Innermost(); scope != nullptr; scope = scope->outer_) {
    if (scope->IsStopped()) {
      throw RunStopped(__FILE__, __LINE__, "",
                       "the run was stopped while the operator waited or looped");
    }
  }
}

void ThrowIfStoppedBetweenOperators() {
  for (const StopScope* scope = StopScope::Innermost(); scope != nullptr; scope = scope->outer_) {
    if (scope->ends_ == StopScope::Ends::kWaits) return;
    if (scope->IsStopped()) ThrowStoppedBetweenOperators();
  }
}

void ThrowStoppedBetweenOperators() {
  throw RunStopped(__FILE__, __LINE__, "", "the run was stopped before the operator started");
}

WaitingThread::WaitingThread() {
  if (t_thread_state.turn != nullptr) t_thread_state.turn->GiveBack();
}

WaitingThread::~WaitingThread() {
  if (t_thread_state.turn != nullptr) t_thread_state.turn->TakeAgain();
}

}  // namespace caffe2rt
