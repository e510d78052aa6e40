#pragma once
// Which dimension Concat and Split work on: argument axis, or the channels of argument order (NCHW:
// 1, NHWC: 3). With add_axis, which counts beside axis only, that dimension is a new one.

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

struct JoinAxis {
  int axis = 1;
  bool add_axis = false;
};

// THROWS when axis and order are both given, or the order is not known.
JoinAxis ReadJoinAxis(const ArgumentHelper& args);

// Declares axis, order and add_axis.
void DeclareJoinAxis(OpSchema& schema);

}  // namespace caffe2rt
