#pragma once
// The thread pool of a workspace: ws->GetThreadPool()->run([](int thread, size_t i) {...}, range).
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2_core/base/thread_pool.h"

namespace caffe2 {
using ::caffe2rt::ThreadPool;
}  // namespace caffe2
