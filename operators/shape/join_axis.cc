#include "operators/shape/join_axis.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {

JoinAxis ReadJoinAxis(const ArgumentHelper& args) {
  JoinAxis result;
  if (args.HasArgument(kJoinAxis)) {
    CAFFE_ENFORCE(!args.HasArgument(kJoinOrder),
                  "arguments axis and order are both given: remove one");
    result.axis = args.Read(kJoinAxis);
    result.add_axis = args.Read(kAddAxis) != 0;
    return result;
  }
  result.axis = StringToStorageOrder(args.Read(kJoinOrder)) == NHWC ? 3 : 1;
  return result;
}

}  // namespace caffe2rt
