#pragma once
// Functions that build nets.
#include <string>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2_core/graph/arguments.h"

namespace caffe2 {
inline OperatorDef* AddOp(NetDef* net, const string& type, const vector<string>& inputs,
                          const vector<string>& outputs) {
  OperatorDef* op = net->add_op();
  *op = CreateOperatorDef(type, "", inputs, outputs);
  return op;
}
}  // namespace caffe2
