#pragma once
// Shows the progress of a job on a terminal, once it has taken two seconds.

#include <cstdint>
#include <string>

#include "caffe2_core/base/timer.h"

namespace caffe2rt {

// Writes to the standard error, and only if that is a terminal. Removes its line when destroyed.
class Progress {
 public:
  // `unit` is what is counted: "images", "runs". A `total` of 0 is not known.
  Progress(int64_t total, std::string unit);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows "done of total unit", at most ten times per second.
  void Show(int64_t done);
  // Call before anything else is printed.
  void Clear();

 private:
  const int64_t total_;
  const std::string unit_;
  const bool shown_;
  bool printed_ = false;
  float next_seconds_ = 2;
  Timer timer_;
};

}  // namespace caffe2rt
