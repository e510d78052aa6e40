#pragma once
// Timer: a stopwatch.
#include <chrono>

#include "caffe2/core/common.h"
#include "caffe2_core/base/timer.h"

namespace caffe2 {
using ::caffe2rt::Timer;
}  // namespace caffe2
