#pragma once
// WorkScope: settings of the work of a thread, in place of those of the process.
//
//   const WorkScope scope({.threads = 1, .conv_tuning = table.get()});
//   net->Run();                  // its operators are planned for one thread, by this table
//
// The settings go with the work to other threads (base/thread_state.h). Scopes may be nested; the
// innermost one that sets a value counts. Create them on the stack only.

#include "caffe2_core/base/thread_state.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct WorkSettings {
  // The number of threads among which an operator divides its work (GetNumThreads in thread_pool.h),
  // at most as many as the pool of the process has. 0: as outside of the scope.
  int threads = 0;
  // The table of convolutions' timings (operators/conv/conv_tuning.h), which must outlive the scope.
  // Null: as outside of the scope.
  const ConvTuning* conv_tuning = nullptr;
  // Whether results must be the same bytes on all machines with fused multiply-add: GEMM and convolutions
  // of floats add in one order, and choices do not depend on the instruction set. False: as outside of
  // the scope.
  bool any_machine = false;
};

// Whether a scope of the calling thread wants results that do not depend on the machine.
inline bool WorksForAnyMachine() { return t_thread_state.any_machine; }

class WorkScope {
 public:
  explicit WorkScope(const WorkSettings& settings)
      : threads_(t_thread_state.threads),
        conv_tuning_(t_thread_state.conv_tuning),
        any_machine_(t_thread_state.any_machine) {
    if (settings.threads > 0) t_thread_state.threads = settings.threads;
    if (settings.conv_tuning != nullptr) t_thread_state.conv_tuning = settings.conv_tuning;
    if (settings.any_machine) t_thread_state.any_machine = true;
  }
  ~WorkScope() {
    t_thread_state.threads = threads_;
    t_thread_state.conv_tuning = conv_tuning_;
    t_thread_state.any_machine = any_machine_;
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  const int threads_;
  const ConvTuning* const conv_tuning_;
  const bool any_machine_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
