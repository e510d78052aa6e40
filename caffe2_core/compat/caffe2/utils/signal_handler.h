#pragma once
// SignalHandler: checks for SIGINT and SIGHUP.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "caffe2_core/base/signal_handler.h"

namespace caffe2 {
using ::caffe2rt::SignalHandler;
}  // namespace caffe2
