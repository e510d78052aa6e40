#pragma once
// SIGINT and SIGHUP as something to ask for.
#include "caffe2_core/base/signal_handler.h"

namespace caffe2 {
using ::caffe2rt::SignalHandler;
}  // namespace caffe2
