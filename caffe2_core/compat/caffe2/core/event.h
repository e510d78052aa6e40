#pragma once
// Events of device streams.
#include "caffe2/core/common.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/device/event.h"

namespace caffe2 {
using ::caffe2rt::Event;
using ::caffe2rt::EventStatus;
}  // namespace caffe2
