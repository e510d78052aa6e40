#pragma once
// Observers that count runs of nets and operators.
#include "caffe2/core/net.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator.h"
#include "caffe2_core/inspect/time_observer.h"

namespace caffe2 {
using ::caffe2rt::RunCountNetObserver;
}  // namespace caffe2
