#pragma once
// The executor of nets without a type.
#include "caffe2/core/net.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/caffe2_pb.h"
