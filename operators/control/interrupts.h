#pragma once
// Ends loops that a user interrupts, or whose run is stopped.

#include <cstdint>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

// Create one before the loop. Not thread safe.
class Interrupts {
 public:
  // Call it after each iteration. THROWS if SIGINT or SIGHUP arrived since construction and the
  // program handles them (SignalHandler); otherwise the signal ends the process. THROWS RunStopped
  // (waiting.h), for example if a concurrent step of a plan has failed.
  void CountIteration() {
    ++iterations_;
    CAFFE_ENFORCE(SignalsSeen() == seen_, "the loop was interrupted by a signal after ",
                  iterations_, " iterations");
    ThrowIfStopped();
  }

 private:
  const unsigned seen_ = SignalsSeen();
  int64_t iterations_ = 0;
};

}  // namespace caffe2rt
