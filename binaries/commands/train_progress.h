#pragma once
// The line that shows how a training goes.
//
//   epoch 2/4  31 %  loss 0.061  accuracy 98.1 %  4,150 images/s  rate 0.0098  0:09 left

#include "caffe2_core/base/timer.h"
#include "caffe2_core/training/training_run.h"

namespace caffe2rt {

std::string TrainProgressText(const TrainingProgress& progress, int epochs);
// A duration such as 0:09, 12:30 or 1:02:03.
std::string DurationText(double seconds);

// On a terminal, shows the line in place, ten times per second. Else prints nothing.
class TrainProgressLine {
 public:
  explicit TrainProgressLine(int epochs);
  ~TrainProgressLine() { Clear(); }
  TrainProgressLine(const TrainProgressLine&) = delete;
  TrainProgressLine& operator=(const TrainProgressLine&) = delete;

  void Show(const TrainingProgress& progress);
  // Call before anything else is printed.
  void Clear();

 private:
  const int epochs_;
  const bool shown_;
  bool printed_ = false;
  Timer timer_;
  float next_seconds_ = 0;
};

}  // namespace caffe2rt
