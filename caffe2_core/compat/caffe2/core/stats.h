#pragma once
// Counters are not collected. The header exists so that sources that include it compile.
#include <atomic>
#include <chrono>
#include <mutex>

#include "caffe2/core/logging.h"
