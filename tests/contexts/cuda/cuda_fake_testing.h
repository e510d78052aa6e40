#pragma once
// Helpers for tests that call functions specific to the fake CUDA.

#include <cstdlib>
#include <functional>
#include <utility>

#include "fake_cuda/fake_cuda.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test {

// These programs do not run on hardware.
inline const bool gates_allow_waiting_calls = (Gate::allows_waiting_calls = true);

// Runs `action` once, in the calling thread, just before the next call of a CUDA function.
class Before {
 public:
  Before(const char* function, std::function<void()> action)
      : function_(function), action_(std::move(action)) {
    fakecuda_before(function, &Before::Run, this);
  }
  ~Before() {
    fakecuda_before(
        function_, [](void*) {}, nullptr);
  }
  Before(const Before&) = delete;
  Before& operator=(const Before&) = delete;
  bool ran() const { return ran_; }

 private:
  static void Run(void* self) {
    auto& before = *static_cast<Before*>(self);
    before.ran_ = true;
    before.action_();
  }
  const char* const function_;
  const std::function<void()> action_;
  mutable bool ran_ = false;  // the hook is often const in a test
};

// Runs `body` on a machine with this configuration and ends the process. Used in the child of a
// death test, where CUDA has not been used yet. Exits with 0 when no check failed.
[[noreturn]] inline void OnMachine(const FakeCudaConfig& config,
                                   const std::function<void()>& body) {
  fakecuda_reset(&config);
  body();
  const bool failed = testing::Test::HasFailure();
  fakecuda_set_unloading(0);
  std::exit(failed ? 1 : 0);
}

}  // namespace caffe2rt::test
