#pragma once
// The thread pool that the operators of a workspace share.
#include "caffe2/core/common.h"
#include "caffe2_core/base/thread_pool.h"

namespace caffe2 {
using ::caffe2rt::ThreadPool;
}  // namespace caffe2
