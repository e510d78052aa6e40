#pragma once
// GlobalInit, and the registration of functions that it runs.
#include "caffe2/core/common.h"
#include "caffe2/core/flags.h"
#include "caffe2/core/logging.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/runtime/init.h"

namespace caffe2 {
using ::caffe2rt::GlobalInit;
using ::caffe2rt::GlobalInitAlreadyRun;
}  // namespace caffe2
