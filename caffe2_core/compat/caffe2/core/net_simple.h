#pragma once
// SimpleNet: the executor of nets whose type is not set.
#include "caffe2/core/net.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/caffe2_pb.h"
