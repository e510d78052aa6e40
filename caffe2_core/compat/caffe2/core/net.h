#pragma once
// Nets.
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <queue>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <vector>

#include "c10/core/thread_pool.h"
#include "c10/util/Registry.h"
#include "caffe2/core/blob.h"
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator_schema.h"
#include "caffe2/core/tensor.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2 {
using ::caffe2rt::AddGlobalNetObserverCreator;
using ::caffe2rt::ClearGlobalNetObservers;
using ::caffe2rt::CreateNet;
using ::caffe2rt::NetBase;
using ::caffe2rt::NetObserverCreator;
using ::caffe2rt::OperatorBase;
using ::caffe2rt::Workspace;
using NetObserver = ObserverBase<NetBase>;
using OperatorObserver = ObserverBase<OperatorBase>;
}  // namespace caffe2
