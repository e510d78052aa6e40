#pragma once
// Workspaces.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2/core/blob.h"
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/net.h"
#include "caffe2/core/registry.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/signal_handler.h"
#include "caffe2/utils/threadpool/ThreadPool.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2 {
using ::caffe2rt::StopOnSignal;
using ::caffe2rt::Workspace;
}  // namespace caffe2
