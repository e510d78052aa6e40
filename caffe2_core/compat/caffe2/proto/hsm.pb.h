#pragma once
// Trees of classes, for a hierarchical softmax.
#include "caffe2rt/hsm.pb.h"

namespace caffe2 {
using ::caffe2rt::HierarchyProto;
using ::caffe2rt::NodeProto;
using ::caffe2rt::PathNodeProto;
using ::caffe2rt::PathProto;
using ::caffe2rt::TreeProto;
}  // namespace caffe2
