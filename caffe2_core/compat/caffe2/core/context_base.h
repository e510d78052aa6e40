#pragma once
// The base class of device contexts.
#include "caffe2/core/allocator.h"
#include "caffe2/core/event.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/typeid.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/device/context.h"

namespace caffe2 {
using ::caffe2rt::BaseContext;
using ::caffe2rt::BaseStaticContext;
}  // namespace caffe2
