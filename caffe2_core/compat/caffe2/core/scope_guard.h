#pragma once
// ScopeGuard: runs a function at the end of a scope, unless it is dismissed.
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace caffe2 {
template <class Function>
class ScopeGuardImpl {
 public:
  explicit ScopeGuardImpl(Function function) : function_(std::move(function)) {}
  ScopeGuardImpl(ScopeGuardImpl&& other) noexcept
      : function_(std::move(other.function_)), dismissed_(std::exchange(other.dismissed_, true)) {}
  ScopeGuardImpl(const ScopeGuardImpl&) = delete;
  ScopeGuardImpl& operator=(const ScopeGuardImpl&) = delete;
  ~ScopeGuardImpl() noexcept {
    if (!dismissed_) function_();
  }
  void dismiss() noexcept { dismissed_ = true; }

 private:
  Function function_;
  bool dismissed_ = false;
};
template <class Function>
[[nodiscard]] ScopeGuardImpl<std::decay_t<Function>> MakeGuard(Function&& function) {
  return ScopeGuardImpl<std::decay_t<Function>>(std::forward<Function>(function));
}
}  // namespace caffe2
