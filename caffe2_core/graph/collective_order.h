#pragma once
// The effect of operators that communicate with other processes (operators/distributed): the
// operators of a net with this effect start in the order of the net, each when the one before it has
// ended. So all ranks start them in the same order, whatever their executors do; two worlds whose
// operators were started in opposite orders would wait for each other.

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

inline constexpr Effect kCollectiveEffect = static_cast<Effect>(16);  // a bit of its own

}  // namespace caffe2rt
