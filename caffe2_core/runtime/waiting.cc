#include "caffe2_core/runtime/waiting.h"

#include <utility>

namespace caffe2rt {
namespace {

constinit thread_local const StopScope* g_innermost = nullptr;

}  // namespace

StopScope::StopScope(std::function<bool()> is_stopped, const StopScope* outer)
    : is_stopped_(std::move(is_stopped)), outer_(outer), before_(g_innermost) {
  g_innermost = this;
}

StopScope::~StopScope() { g_innermost = before_; }

const StopScope* StopScope::Innermost() { return g_innermost; }

void ThrowIfStopped() {
  for (const StopScope* scope = g_innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->is_stopped_ && scope->is_stopped_()) {
      throw RunStopped(__FILE__, __LINE__, "",
                       "the run was stopped while the operator waited or looped");
    }
  }
}

}  // namespace caffe2rt
