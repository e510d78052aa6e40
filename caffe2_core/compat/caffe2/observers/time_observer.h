#pragma once
// An observer that measures the run time of nets.
#include "caffe2/core/net.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/timer.h"
#include "caffe2_core/runtime/time_observer.h"

namespace caffe2 {
using ::caffe2rt::TimeObserver;
}  // namespace caffe2
