#include "operators/shape/join_axis.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {

JoinAxis ReadJoinAxis(const ArgumentHelper& args) {
  JoinAxis result;
  if (args.HasArgument("axis")) {
    CAFFE_ENFORCE(!args.HasArgument("order"),
                  "arguments axis and order are both given: remove one");
    result.axis = args.GetSingleArgument<int>("axis", -1);
    result.add_axis = args.GetSingleArgument<int>("add_axis", 0) != 0;
    return result;
  }
  const std::string order = args.GetSingleArgument<std::string>("order", "NCHW");
  result.axis = StringToStorageOrder(order) == NHWC ? 3 : 1;
  return result;
}

void DeclareJoinAxis(OpSchema& schema) {
  schema
      .Arg("axis", "the dimension; negative counts from the end; default: the channels of order", 1)
      .Arg("order", "NCHW or NHWC, in place of axis", "NCHW")
      .Arg("add_axis", "1: the dimension is a new one (only beside axis)", 0);
}

}  // namespace caffe2rt
