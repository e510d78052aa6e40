#pragma once
// A thread pool with a queue of tasks.
#include "c10/core/thread_pool.h"

namespace caffe2 {
using ::c10::TaskThreadPool;
}  // namespace caffe2
