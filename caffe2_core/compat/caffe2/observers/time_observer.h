#pragma once
// An observer that measures the run time of nets.
#include "caffe2/core/net.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/timer.h"
#include "caffe2_core/inspect/time_observer.h"

namespace caffe2 {
#if CAFFE2RT_TEMPLATED_TENSOR
// Observers were templates over what they observe, which is a net here.
template <class Subject>
using TimeObserver = ::caffe2rt::TimeObserver;
#else
using ::caffe2rt::TimeObserver;
#endif
}  // namespace caffe2
